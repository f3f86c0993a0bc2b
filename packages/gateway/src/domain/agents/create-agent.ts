import { DEFAULT_PROJECT } from '../../config/default-project.ts';
import type { Offered } from '../../config/known-tool.ts';
import { toJson } from '../../ports/store/schema/json.ts';
import type { AgentRow } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { insertEntity } from '../entities/entity.ts';
import type { Metadata } from '../entities/metadata.ts';
import { newTag } from '../frame-tag.ts';
import { newId } from '../new-id.ts';
import { idTaken, ownId } from '../own-id.ts';
import { lockProject } from '../projects/project.ts';
import { addMember } from '../spaces/membership.ts';
import { noteToolUses } from '../tools/used-by.ts';
import { type Agent, toAgent } from './agent.ts';
import { keepVersion } from './agent-versions.ts';
import { checkAgentConfig, lockNamedTools } from './check-agent-config.ts';

export interface NewAgent {
  /** An id that the caller chooses. Default: a new one. */
  readonly id?: string | undefined;
  /** Default `default`. */
  readonly project?: string | undefined;
  /** The unchecked configuration as the user wrote it. */
  readonly config: unknown;
  /** The spaces that it is a member of from the start. */
  readonly spaceIds?: readonly string[] | undefined;
  readonly metadata?: Metadata | undefined;
  /** What it may name. Default: not checked until the run. */
  readonly offered?: Offered | undefined;
}

/** Creates an entity, an agent and a thread that can be woken. All three have the same id. */
export async function createAgent(tx: Tx, newAgent: NewAgent): Promise<Agent> {
  await lockNamedTools(tx, newAgent.config);
  const { project = DEFAULT_PROJECT } = newAgent;
  await lockProject(tx, project);
  const config = await checkAgentConfig(tx, newAgent.config, { offered: newAgent.offered, project });
  const id = newAgent.id === undefined ? newId() : ownId(newAgent.id);
  if (newAgent.id !== undefined) await assertFree(tx, id);
  const now = tx.now();
  await insertEntity(tx, { kind: 'agent', project, displayName: config.name, metadata: newAgent.metadata }, id);
  const row: AgentRow = {
    id,
    project_id: project,
    entity_id: id,
    name: config.name,
    config: toJson(config),
    config_version: 1,
    status: 'active',
    active_space_id: null,
    last_error: null,
    tag: newTag(),
    created_at: now,
    updated_at: now,
  };
  await tx.db.insertInto('agents').values(row).execute();
  await keepVersion(tx, row);
  await noteToolUses(tx, id, config);
  await tx.db
    .insertInto('threads')
    .values({ id, kind: 'agent', agent_id: id, lease_owner: null, lease_until: 0, epoch: 0, state: null })
    .execute();
  // Spaces are locked in the order of their ids: see lockSpace.
  for (const spaceId of [...new Set(newAgent.spaceIds)].sort()) await addMember(tx, { spaceId, entityId: id, project });
  return toAgent(row);
}

/**
 * Throws if the id is taken. An agent, its entity and its thread share one id, so no other entity may have it. If two requests
 * take it at once, the second fails.
 */
async function assertFree(tx: Tx, id: string): Promise<void> {
  const thread = await tx.db.selectFrom('threads').select('id').where('id', '=', id).executeTakeFirst();
  const entity = await tx.db.selectFrom('entities').select('id').where('id', '=', id).executeTakeFirst();
  if (thread !== undefined || entity !== undefined) throw idTaken(id);
}
