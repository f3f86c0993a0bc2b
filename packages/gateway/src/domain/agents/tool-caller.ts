import { toJson } from '../../ports/store/schema/json.ts';
import type { AgentRow, EntityRow } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { newTag } from '../frame-tag.ts';

/**
 * The agent that calls tools for callers without an agent: MCP clients. It uses no model, is in no space and in no list, and
 * cannot be changed. The colon keeps its id apart from ids that callers choose.
 */
export const TOOL_CALLER_ID = 'gateway:tool-caller';

/** Returns the agent, and creates it the first time. */
export async function ensureToolCaller(tx: Tx): Promise<AgentRow> {
  return (await find(tx)) ?? (await create(tx));
}

async function find(tx: Tx): Promise<AgentRow | undefined> {
  return await tx.db.selectFrom('agents').selectAll().where('id', '=', TOOL_CALLER_ID).executeTakeFirst();
}

async function create(tx: Tx): Promise<AgentRow> {
  const now = tx.now();
  const name = 'Tool caller';
  const entity: EntityRow = {
    id: TOOL_CALLER_ID,
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
    id: TOOL_CALLER_ID,
    entity_id: TOOL_CALLER_ID,
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
  return (await find(tx)) ?? agent;
}
