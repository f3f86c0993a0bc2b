import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { DEFAULT_PROJECT } from '../../config/default-project.ts';
import { toJson } from '../../ports/store/schema/json.ts';
import type { AgentRow, EntityRow } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { newTag } from '../frame-tag.ts';

/**
 * The agent that calls tools for callers without an agent: MCP clients. It uses no model, is in no space and in no list, and
 * cannot be changed. The colon keeps its id apart from ids that callers choose.
 */
const TOOL_CALLER_ID = 'gateway:tool-caller';

/** Each project has its own. */
function toolCallerOf(project: string): string {
  return project === DEFAULT_PROJECT ? TOOL_CALLER_ID : `${TOOL_CALLER_ID}:${project}`;
}

export function isToolCaller(agentId: string): boolean {
  return agentId.startsWith(TOOL_CALLER_ID);
}

/** A condition on agents: all but these. */
export const isOrdinary: RawBuilder<SqlBool> = sql<SqlBool>`agents.id not like ${sql.lit(`${TOOL_CALLER_ID}%`)}`;

/** Returns the agent, and creates it the first time. */
export async function ensureToolCaller(tx: Tx, project: string): Promise<AgentRow> {
  return (await find(tx, project)) ?? (await create(tx, project));
}

async function find(tx: Tx, project: string): Promise<AgentRow | undefined> {
  return await tx.db.selectFrom('agents').selectAll().where('id', '=', toolCallerOf(project)).executeTakeFirst();
}

async function create(tx: Tx, project: string): Promise<AgentRow> {
  const now = tx.now();
  const id = toolCallerOf(project);
  const name = 'Tool caller';
  const entity: EntityRow = {
    id,
    project_id: project,
    kind: 'agent',
    external_id: null,
    display_name: name,
    metadata: toJson({}),
    created_at: now,
    // Marked as deleted, so that it appears in no list and no space, and gets no token.
    deleted_at: now,
    spaces_joined: 0,
  };
  const agent: AgentRow = {
    id,
    project_id: project,
    entity_id: id,
    name,
    config: toJson({ name, instructions: '' }),
    config_version: 1,
    status: 'active',
    active_space_id: null,
    last_error: null,
    tag: newTag(),
    created_at: now,
    updated_at: now,
  };
  // Two gateways may do this at the same moment.
  await tx.db
    .insertInto('entities')
    .values(entity)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await tx.db
    .insertInto('agents')
    .values(agent)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return (await find(tx, project)) ?? agent;
}
