import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import type { AgentLimits } from '../../config/agent-limits.ts';
import { COLUMNS } from '../../ports/store/schema/columns.ts';
import { toJson } from '../../ports/store/schema/json.ts';
import type { PlanRow, Tables } from '../../ports/store/schema/tables.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import { withKeys } from '../memory/note-key.ts';
import { assertAllKnown, assertLength, assertRoom, noteLimits } from '../memory/note-limits.ts';
import { parseNotes } from '../memory/parse-notes.ts';
import { newId } from '../new-id.ts';
import { type Misfire, type Plan, type PlanInput, planInputSchema, toPlan } from './plan.ts';
import { parseSchedule, type Schedule } from './schedule.ts';

/** A plan whose key, limits and schedule were checked. */
export interface PreparedPlan {
  readonly key: string;
  readonly name: string;
  readonly instruction: string;
  readonly misfire: Misfire;
  readonly schedule: Schedule;
}

/** Lists plans: future ones first, the nearest first, then finished ones. */
export async function listPlans(db: Kysely<Tables>, agentId: string): Promise<Plan[]> {
  return (await list(db, { agentId })).map(toPlan);
}

/** Only the query, for callers that batch it with others. */
export function plansOf(
  db: Kysely<Tables>,
  { agentId }: Params<{ readonly agentId: string }>,
): SelectQueryBuilder<Tables, 'plans', PlanRow> {
  return db
    .selectFrom('plans')
    .select(COLUMNS.plans)
    .where('agent_id', '=', agentId)
    .orderBy(sql`case when next_at is null then 1 else 0 end`)
    .orderBy('next_at')
    .orderBy('created_at')
    .orderBy('key');
}

const list = statement(plansOf);

/** Creates plans, or replaces those with the same key. Returns their keys, in order. */
export async function setPlans(tx: Tx, agentId: string, plans: readonly PlanInput[]): Promise<string[]> {
  const prepared = await preparePlans(tx.db, agentId, plans, tx.now());
  await writePlans(tx, agentId, prepared);
  return prepared.map(({ key }) => key);
}

/** Checks everything before anything is written. */
export async function preparePlans(
  db: Kysely<Tables>,
  agentId: string,
  plans: readonly PlanInput[],
  now: number,
  knownLimits?: AgentLimits,
): Promise<PreparedPlan[]> {
  const limits = knownLimits ?? (await noteLimits(db, agentId));
  const known = await knownPlans(db, agentId);
  const keyed = withKeys(parseNotes('plans', planInputSchema, plans), new Set(known.keys()), ({ name }) => name);
  for (const { key, instruction } of keyed)
    assertLength(`The instruction of plan "${key}"`, instruction, limits.noteLength);
  // Finished plans do not count, because `sweepFinished` deletes them.
  const waiting = [...known].filter(([, nextAt]) => nextAt !== null).map(([key]) => key);
  const added = keyed.filter(({ key }) => !waiting.includes(key)).length;
  assertRoom('plans', { kept: waiting.length, added, max: limits.maxPlans });
  return keyed.map(({ key, name, instruction, misfire = 'once', ...schedule }) => ({
    key,
    name,
    instruction,
    misfire,
    schedule: parseSchedule({ name, instruction, ...schedule }, now),
  }));
}

export async function writePlans(
  tx: Tx,
  agentId: string,
  plans: readonly PreparedPlan[],
  knownLimits?: AgentLimits,
): Promise<void> {
  const now = tx.now();
  for (const plan of plans) await writePlan(tx, agentId, plan, now);
  await sweepFinished(tx, agentId, knownLimits ?? (await noteLimits(tx.db, agentId)));
}

/** A replaced plan keeps its id, so that it never fires twice for the same time. */
async function writePlan(tx: Tx, agentId: string, plan: PreparedPlan, now: number): Promise<void> {
  const { key, name, instruction, misfire, schedule } = plan;
  const told = {
    name: toJson(name),
    instruction: toJson(instruction),
    cron: schedule.cron,
    at: schedule.at,
    time_zone: schedule.timeZone,
    misfire,
    next_at: schedule.nextAt,
    updated_at: now,
  };
  await tx.db
    .insertInto('plans')
    .values({ id: newId(), agent_id: agentId, key, last_at: null, created_at: now, ...told })
    .onConflict((conflict) => conflict.columns(['agent_id', 'key']).doUpdateSet(told))
    .execute();
}

/** Deletes the oldest finished plans when there is no more room for them. */
async function sweepFinished(tx: Tx, agentId: string, { maxPlans }: AgentLimits): Promise<void> {
  const plans = await listPlans(tx.db, agentId);
  const finished = plans.filter(({ nextAt }) => nextAt === undefined).sort((one, other) => endOf(other) - endOf(one));
  const room = Math.max(0, maxPlans - (plans.length - finished.length));
  const over = finished.slice(room).map(({ key }) => key);
  await removePlans(tx, agentId, over);
}

/** A plan that was skipped never fired, so its last change counts. */
function endOf({ lastAt, updatedAt }: Plan): number {
  return lastAt ?? updatedAt;
}

/** Deletes all of them or none: a key that does not exist, or belongs to another agent, is "not found". */
export async function deletePlans(tx: Tx, agentId: string, keys: readonly string[]): Promise<void> {
  await assertPlans(tx.db, agentId, keys);
  await removePlans(tx, agentId, keys);
}

export async function assertPlans(db: Kysely<Tables>, agentId: string, keys: readonly string[]): Promise<void> {
  assertAllKnown('plan', keys, new Set((await knownPlans(db, agentId)).keys()));
}

export async function removePlans(tx: Tx, agentId: string, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  await tx.db.deleteFrom('plans').where('agent_id', '=', agentId).where('key', 'in', keys).execute();
}

/** The next time of each plan, by key. */
async function knownPlans(db: Kysely<Tables>, agentId: string): Promise<ReadonlyMap<string, number | null>> {
  const rows = await db.selectFrom('plans').select(['key', 'next_at']).where('agent_id', '=', agentId).execute();
  return new Map(rows.map(({ key, next_at }) => [key, next_at]));
}
