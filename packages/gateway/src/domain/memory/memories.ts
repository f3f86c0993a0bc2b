import type { Kysely, SelectQueryBuilder } from 'kysely';
import type { AgentLimits } from '../../config/agent-limits.ts';
import { COLUMNS } from '../../ports/store/schema/columns.ts';
import { toJson } from '../../ports/store/schema/json.ts';
import type { MemoryRow, Tables } from '../../ports/store/schema/tables.ts';
import { type Params, type Statement, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import { type Memory, type MemoryInput, memoryInputSchema, toMemory } from './memory.ts';
import { withKeys } from './note-key.ts';
import { assertAllKnown, assertLength, assertRoom, noteLimits } from './note-limits.ts';
import { parseNotes } from './parse-notes.ts';

/** Lists memories in the order of creation. */
export async function listMemories(db: Kysely<Tables>, agentId: string): Promise<Memory[]> {
  return (await memoryRows(db, { agentId })).map(toMemory);
}

/** Only the query, for callers that batch it with others. */
export function memoriesOf(
  db: Kysely<Tables>,
  { agentId }: Params<{ readonly agentId: string }>,
): SelectQueryBuilder<Tables, 'memories', MemoryRow> {
  return db
    .selectFrom('memories')
    .select(COLUMNS.memories)
    .where('agent_id', '=', agentId)
    .orderBy('created_at')
    .orderBy('key');
}

export const memoryRows: Statement<{ readonly agentId: string }, MemoryRow> = statement(memoriesOf);

/** Creates memories, or replaces those with the same key. Returns their keys, in order. */
export async function setMemories(tx: Tx, agentId: string, memories: readonly MemoryInput[]): Promise<string[]> {
  const prepared = await prepareMemories(tx.db, agentId, memories);
  await writeMemories(tx, agentId, prepared);
  return prepared.map(({ key }) => key);
}

/** Checks everything before anything is written. */
export async function prepareMemories(
  db: Kysely<Tables>,
  agentId: string,
  memories: readonly MemoryInput[],
  knownLimits?: AgentLimits,
  knownKeys?: ReadonlySet<string>,
): Promise<MemoryInput[]> {
  const limits = knownLimits ?? (await noteLimits(db, agentId));
  const known = knownKeys ?? (await keysOf(db, agentId));
  const keyed = withKeys(parseNotes('memories', memoryInputSchema, memories), known, ({ key }) => key);
  for (const { key, value } of keyed) assertLength(`The memory "${key}"`, textOf(value), limits.noteLength);
  const added = keyed.filter(({ key }) => !known.has(key)).length;
  assertRoom('memories', { kept: known.size, added, max: limits.maxMemories });
  return keyed;
}

export async function writeMemories(tx: Tx, agentId: string, memories: readonly MemoryInput[]): Promise<void> {
  const now = tx.now();
  for (const { key, value } of memories) {
    const told = { value: toJson(value), updated_at: now };
    await tx.db
      .insertInto('memories')
      .values({ agent_id: agentId, key, created_at: now, ...told })
      .onConflict((conflict) => conflict.columns(['agent_id', 'key']).doUpdateSet(told))
      .execute();
  }
}

/** Deletes all of them or none: a key that does not exist, or belongs to another agent, is "not found". */
export async function deleteMemories(tx: Tx, agentId: string, keys: readonly string[]): Promise<void> {
  await assertMemories(tx.db, agentId, keys);
  await removeMemories(tx, agentId, keys);
}

export async function assertMemories(
  db: Kysely<Tables>,
  agentId: string,
  keys: readonly string[],
  known?: ReadonlySet<string>,
): Promise<void> {
  assertAllKnown('memory', keys, known ?? (await keysOf(db, agentId)));
}

export async function removeMemories(tx: Tx, agentId: string, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  await tx.db.deleteFrom('memories').where('agent_id', '=', agentId).where('key', 'in', keys).execute();
}

async function keysOf(db: Kysely<Tables>, agentId: string): Promise<ReadonlySet<string>> {
  const rows = await db.selectFrom('memories').select('key').where('agent_id', '=', agentId).execute();
  return new Set(rows.map(({ key }) => key));
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : toJson(value);
}
