import type { Kysely, SelectQueryBuilder } from 'kysely';
import type { AgentLimits } from '../../config/agent-limits.ts';
import { COLUMNS } from '../../ports/store/schema/columns.ts';
import { toJson } from '../../ports/store/schema/json.ts';
import type { GoalRow, Tables } from '../../ports/store/schema/tables.ts';
import { type Params, type Statement, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import { type Goal, type GoalInput, goalInputSchema, toGoal } from './goal.ts';
import { withKeys } from './note-key.ts';
import { assertAllKnown, assertLength, assertRoom, noteLimits } from './note-limits.ts';
import { parseNotes } from './parse-notes.ts';

export type KeyedGoal = GoalInput & { readonly key: string };

/** Lists goals, the most important first, then in the order of creation. */
export async function listGoals(db: Kysely<Tables>, agentId: string): Promise<Goal[]> {
  return (await goalRows(db, { agentId })).map(toGoal);
}

/** Only the query, for callers that batch it with others. */
export function goalsOf(
  db: Kysely<Tables>,
  { agentId }: Params<{ readonly agentId: string }>,
): SelectQueryBuilder<Tables, 'goals', GoalRow> {
  return db
    .selectFrom('goals')
    .select(COLUMNS.goals)
    .where('agent_id', '=', agentId)
    .orderBy('priority', 'desc')
    .orderBy('created_at')
    .orderBy('key');
}

export const goalRows: Statement<{ readonly agentId: string }, GoalRow> = statement(goalsOf);

/** Creates goals, or replaces those with the same key. Returns their keys, in order. */
export async function setGoals(tx: Tx, agentId: string, goals: readonly GoalInput[]): Promise<string[]> {
  const keyed = await prepareGoals(tx.db, agentId, goals);
  await writeGoals(tx, agentId, keyed);
  return keyed.map(({ key }) => key);
}

/** Checks everything before anything is written. */
export async function prepareGoals(
  db: Kysely<Tables>,
  agentId: string,
  goals: readonly GoalInput[],
  knownLimits?: AgentLimits,
  knownKeys?: ReadonlySet<string>,
): Promise<KeyedGoal[]> {
  const limits = knownLimits ?? (await noteLimits(db, agentId));
  const known = knownKeys ?? (await keysOf(db, agentId));
  const keyed = withKeys(parseNotes('goals', goalInputSchema, goals), known, ({ description }) => description);
  for (const { key, description } of keyed)
    assertLength(`The description of goal "${key}"`, description, limits.noteLength);
  const added = keyed.filter(({ key }) => !known.has(key)).length;
  assertRoom('goals', { kept: known.size, added, max: limits.maxGoals });
  return keyed;
}

export async function writeGoals(tx: Tx, agentId: string, goals: readonly KeyedGoal[]): Promise<void> {
  const now = tx.now();
  for (const { key, description, status, priority } of goals) {
    const told = {
      description: toJson(description),
      ...(status === undefined ? {} : { status }),
      ...(priority === undefined ? {} : { priority }),
      updated_at: now,
    };
    await tx.db
      .insertInto('goals')
      .values({ agent_id: agentId, key, status: 'active', priority: 0, created_at: now, ...told })
      .onConflict((conflict) => conflict.columns(['agent_id', 'key']).doUpdateSet(told))
      .execute();
  }
}

/** Deletes all of them or none: a key that does not exist, or belongs to another agent, is "not found". */
export async function deleteGoals(tx: Tx, agentId: string, keys: readonly string[]): Promise<void> {
  await assertGoals(tx.db, agentId, keys);
  await removeGoals(tx, agentId, keys);
}

export async function assertGoals(
  db: Kysely<Tables>,
  agentId: string,
  keys: readonly string[],
  known?: ReadonlySet<string>,
): Promise<void> {
  assertAllKnown('goal', keys, known ?? (await keysOf(db, agentId)));
}

export async function removeGoals(tx: Tx, agentId: string, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  await tx.db.deleteFrom('goals').where('agent_id', '=', agentId).where('key', 'in', keys).execute();
}

async function keysOf(db: Kysely<Tables>, agentId: string): Promise<ReadonlySet<string>> {
  const rows = await db.selectFrom('goals').select('key').where('agent_id', '=', agentId).execute();
  return new Set(rows.map(({ key }) => key));
}
