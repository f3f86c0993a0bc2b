import { randomBytes } from 'node:crypto';
import { toJson } from '../../ports/store/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { AgentRow, EntityRow } from '../../ports/store/tables.ts';

/**
 * The agent that calls tools for callers who have no agent: MCP clients. It asks no model, is in no space and in no list, and nobody
 * can change it. The colon keeps the id apart from those that callers choose.
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
    // It takes part in nothing: in no list, in no space, with no token.
    deleted_at: now,
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
    tag: randomBytes(12).toString('hex'),
    created_at: now,
    updated_at: now,
  };
  // Two gateways may come to this at the same moment.
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
