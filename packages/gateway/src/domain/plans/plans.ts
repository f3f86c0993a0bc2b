import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import type { AgentLimits, AgentLimitsInput } from '../../config/agent-limits.ts';
import { COLUMNS } from '../../ports/store/schema/columns.ts';
import { toJson } from '../../ports/store/schema/json.ts';
import type { PlanRow, Tables } from '../../ports/store/schema/tables.ts';
import { type Params, type Statement, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import { ApiError } from '../api-error.ts';
import { withKeys } from '../memory/note-key.ts';
import { assertAllKnown, assertLength, assertRoom, noteLimits } from '../memory/note-limits.ts';
import { parseNotes } from '../memory/parse-notes.ts';
import { newId } from '../new-id.ts';
import { type Misfire, type Plan, type PlanInput, type PlanSetter, planInputSchema, toPlan } from './plan.ts';
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
  return (await planRows(db, { agentId })).map(toPlan);
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

export const planRows: Statement<{ readonly agentId: string }, PlanRow> = statement(plansOf);

/** Creates plans, or replaces those with the same key. Returns their keys, in order. */
export async function setPlans(
  tx: Tx,
  agentId: string,
  plans: readonly PlanInput[],
  { setter = 'agent', defaults }: SetOptions = {},
): Promise<string[]> {
  const limits = await noteLimits(tx.db, agentId, defaults);
  const prepared = await preparePlans(tx.db, agentId, plans, { now: tx.now(), setter, limits });
  await writePlans(tx, agentId, prepared, { setter, limits });
  return prepared.map(({ key }) => key);
}

interface SetOptions {
  /** Default: the agent. */
  readonly setter?: PlanSetter;
  /** The limits of agents that set none. */
  readonly defaults?: AgentLimitsInput | undefined;
}

interface PrepareOptions {
  readonly now: number;
  /** Default: the agent. */
  readonly setter?: PlanSetter;
  readonly limits?: AgentLimits | undefined;
  /** Default: those of the store. */
  readonly known?: KnownPlans | undefined;
}

/** Checks everything before anything is written. */
export async function preparePlans(
  db: Kysely<Tables>,
  agentId: string,
  plans: readonly PlanInput[],
  { now, setter = 'agent', limits: knownLimits, known: given }: PrepareOptions,
): Promise<PreparedPlan[]> {
  const limits = knownLimits ?? (await noteLimits(db, agentId));
  const known = given ?? (await knownPlans(db, agentId));
  const keyed = withKeys(parseNotes('plans', planInputSchema, plans), new Set(known.keys()), ({ name }) => name);
  if (setter === 'agent') assertOwn(keyed, known);
  for (const { key, instruction } of keyed)
    assertLength(`The instruction of plan "${key}"`, instruction, limits.noteLength);
  // Finished plans do not count, because `sweepFinished` deletes them.
  const waiting = [...known].filter(([, { nextAt }]) => nextAt !== null).map(([key]) => key);
  const added = keyed.filter(({ key }) => !waiting.includes(key)).length;
  assertRoom('plans', { kept: waiting.length, added, max: limits.maxPlans });
  return keyed.map(({ key, name, instruction, misfire = 'once', ...schedule }) => ({
    key,
    name,
    instruction,
    misfire,
    schedule: scheduleOf({ name, instruction, ...schedule }, { key, now, count: keyed.length }),
  }));
}

/** Of several plans the error says which is wrong. Otherwise a model may take the others as set. */
function scheduleOf(
  plan: PlanInput,
  { key, now, count }: { readonly key: string; readonly now: number; readonly count: number },
): Schedule {
  try {
    return parseSchedule(plan, now);
  } catch (error) {
    if (count === 1 || !(error instanceof ApiError)) throw error;
    const { code, message, details } = error;
    throw new ApiError(code, `${message} This is plan "${key}". None of the ${count} plans was set.`, {
      details,
      cause: error,
    });
  }
}

export async function writePlans(
  tx: Tx,
  agentId: string,
  plans: readonly PreparedPlan[],
  { setter = 'agent', limits }: Pick<PrepareOptions, 'setter' | 'limits'> = {},
): Promise<void> {
  const now = tx.now();
  for (const plan of plans) await writePlan(tx, agentId, plan, { now, setter });
  await sweepFinished(tx, agentId, limits ?? (await noteLimits(tx.db, agentId)));
}

/** A replaced plan keeps its id, so that it never fires twice for the same time. */
async function writePlan(
  tx: Tx,
  agentId: string,
  plan: PreparedPlan,
  { now, setter }: { readonly now: number; readonly setter: PlanSetter },
): Promise<void> {
  const { key, name, instruction, misfire, schedule } = plan;
  const told = {
    name: toJson(name),
    instruction: toJson(instruction),
    cron: schedule.cron,
    at: schedule.at,
    time_zone: schedule.timeZone,
    misfire,
    next_at: schedule.nextAt,
    set_by: setter === 'agent' ? null : setter,
    updated_at: now,
  };
  await tx.db
    .insertInto('plans')
    .values({ id: newId(), agent_id: agentId, key, last_at: null, created_at: now, ...told })
    .onConflict((conflict) => {
      const replace = conflict.columns(['agent_id', 'key']).doUpdateSet(told);
      // An operator may have set it after the agent's call was checked: then the operator's plan stays.
      return setter === 'agent' ? replace.where('plans.set_by', 'is', null) : replace;
    })
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
  assertAllKnown('plan', keys, new Set((await knownPlans(tx.db, agentId)).keys()));
  await removePlans(tx, agentId, keys);
}

/** Throws if one of them does not exist, or the agent may not delete it. */
export async function assertOwnPlans(
  db: Kysely<Tables>,
  agentId: string,
  keys: readonly string[],
  given?: KnownPlans,
): Promise<void> {
  const known = given ?? (await knownPlans(db, agentId));
  assertAllKnown('plan', keys, new Set(known.keys()));
  assertOwn(
    keys.map((key) => ({ key })),
    known,
  );
}

async function removePlans(tx: Tx, agentId: string, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  await tx.db.deleteFrom('plans').where('agent_id', '=', agentId).where('key', 'in', keys).execute();
}

/** Deletes plans that the agent set itself. An operator may have replaced one after the agent's call was checked: it stays. */
export async function removeOwnPlans(tx: Tx, agentId: string, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  const own = tx.db.deleteFrom('plans').where('agent_id', '=', agentId).where('set_by', 'is', null);
  await own.where('key', 'in', keys).execute();
}

export type KnownPlans = ReadonlyMap<string, KnownPlan>;

interface KnownPlan {
  readonly nextAt: number | null;
  readonly setBy: PlanSetter;
}

function assertOwn(plans: readonly { readonly key: string }[], known: KnownPlans): void {
  const keys = plans.flatMap(({ key }) => ((known.get(key)?.setBy ?? 'agent') === 'agent' ? [] : [key]));
  if (keys.length === 0) return;
  const named = keys.map((key) => `"${key}"`).join(', ');
  throw new ApiError(
    'forbidden',
    `An operator set the plan ${named}: you cannot change or delete it. Nothing was changed. Use another key for a plan of your own.`,
    { details: { keys } },
  );
}

async function knownPlans(db: Kysely<Tables>, agentId: string): Promise<KnownPlans> {
  const plans = db.selectFrom('plans').select(['key', 'next_at', 'set_by']).where('agent_id', '=', agentId);
  const rows = await plans.execute();
  return new Map(rows.map(({ key, next_at, set_by }) => [key, { nextAt: next_at, setBy: set_by ?? 'agent' }]));
}
