import type { Kysely, Selectable } from 'kysely';
import type { Services } from '../../ports/services.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { AgentRow, PlanRow, Tables } from '../../ports/store/schema/tables.ts';
import { type Params, searchStatement, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import { StoreUnavailable } from '../../ports/store/store-error.ts';
import { doEach } from '../do-each.ts';
import { countWaitingOfAll, inboxLimit } from '../inbox/inbox-capacity.ts';
import { type PushedEvent, pushEvent } from '../inbox/push-event.ts';
import { nextCronTime } from './cron.ts';
import { TOLERANCE_MS } from './schedule.ts';

export interface DueOptions {
  /** Default: all agents. */
  readonly agentId?: string;
  /** Default: the clock of the database. */
  readonly now?: number;
}

type Due = Selectable<PlanRow> & { readonly next_at: number };

/** How many plans are read at once: enough for few round trips, and little memory. */
const PAGE_SIZE = 200;

/**
 * Pushes an event for every plan that is due, a page of plans in each transaction. Returns how many fired. Plans of a paused agent
 * wait like those of a stopped gateway: afterwards they fire late, by their misfire policy.
 */
export async function fireDuePlans(
  services: Pick<Services, 'store' | 'logger'>,
  { agentId, now }: DueOptions = {},
): Promise<number> {
  const at = now ?? (await services.store.transaction(async (tx) => tx.now()));
  let fired = 0;
  for (let after: PagePosition = START; ; ) {
    const due = await duePlans(services, { agentId, at, after });
    const last = due.at(-1);
    if (last === undefined) return fired;
    // Whether a plan is late depends on when it fires, not on when the sweep began.
    fired += await firePage(services, due, now);
    if (due.length < PAGE_SIZE) return fired;
    after = last;
  }
}

/** Where the last page ended. Plans that it skipped, because their inbox is full, are not read again. */
interface PagePosition {
  readonly next_at: number;
  readonly id: string;
}

interface Listed extends PagePosition {
  readonly agent_id: string;
}

const START: PagePosition = { next_at: Number.MIN_SAFE_INTEGER, id: '' };

async function duePlans(
  { store: { db } }: Pick<Services, 'store'>,
  { agentId, at, after }: { agentId: string | undefined; at: number; after: PagePosition },
): Promise<Listed[]> {
  const values = { at, nextAt: after.next_at, id: after.id };
  const rows = await (agentId === undefined
    ? dueOfAll(db, values)
    : selectDue(db, values).where('plans.agent_id', '=', agentId).execute());
  return rows.flatMap(({ id, agent_id, next_at }) => (next_at === null ? [] : [{ id, agent_id, next_at }]));
}

interface DueValues {
  readonly at: number;
  readonly nextAt: number;
  readonly id: string;
}

const dueOfAll = searchStatement((db, values: Params<DueValues>) => selectDue(db, values));

function selectDue(db: Kysely<Tables>, { at, nextAt, id }: DueValues | Params<DueValues>) {
  return db
    .selectFrom('plans')
    .innerJoin('agents', 'agents.id', 'plans.agent_id')
    .select(['plans.id', 'plans.agent_id', 'plans.next_at'])
    .where('plans.next_at', '<=', at)
    .where('agents.status', '=', 'active')
    .where('plans.next_at', '>=', nextAt)
    .where((eb) => eb.or([eb('plans.next_at', '>', nextAt), eb('plans.id', '>', id)]))
    .orderBy('plans.next_at')
    .orderBy('plans.id')
    .limit(PAGE_SIZE);
}

/** Fires a page of plans in one transaction. If the database refuses one of them, each gets a transaction, so that the others fire. */
async function firePage(
  services: Pick<Services, 'store' | 'logger'>,
  due: readonly Listed[],
  now: number | undefined,
): Promise<number> {
  const fireAll = (plans: readonly Listed[]): Promise<number> =>
    services.store.transaction((tx) => fire(services, tx, plans, now ?? tx.now()));
  try {
    return await fireAll(due);
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    return await doEach(services, due, { failed: notFired, work: async (one) => (await fireAll([one])) > 0 });
  }
}

function notFired({ id }: { readonly id: string }): string {
  return `Plan ${id} could not be fired`;
}

/**
 * Fires plans. A second gateway waits for the agents, and then finds the plans no longer due. The agents are locked first, in the same
 * order as when one is deleted: they may have been paused since their plans were listed, and others may fill their inboxes.
 */
async function fire(
  services: Pick<Services, 'logger'>,
  tx: Tx,
  listed: readonly Listed[],
  now: number,
): Promise<number> {
  const agents = await lockActive(tx, [...new Set(listed.map(({ agent_id }) => agent_id))]);
  const ids = listed.flatMap(({ id, agent_id }) => (agents.has(agent_id) ? [id] : []));
  if (ids.length === 0) return 0;
  const [plans, waiting] = await Promise.all([lockDue(tx, ids, now), countWaitingOfAll(tx.db, [...agents.keys()])]);
  const pushed: Promise<boolean>[] = [];
  await doEach(services, plans, {
    failed: notFired,
    async work(plan) {
      const { agent_id } = plan;
      const [agent, count] = [agents.get(agent_id), waiting.get(agent_id) ?? 0];
      // The plan stays due and fires late: nothing is lost, and the inbox stays within its limit.
      if (agent === undefined || count >= inboxLimit(agent, tx.limits)) return false;
      const dueAt = dueTime(services, plan, now);
      const event = dueAt === undefined ? undefined : toPlanEvent(plan, { dueAt, now });
      const times = { id: plan.id, nextAt: nextTime(services, plan, now) ?? null, lastAt: dueAt ?? plan.last_at };
      tx.send(setTimes, times);
      if (event === undefined) return false;
      waiting.set(agent_id, count + 1);
      pushed.push(pushEvent(tx, event));
      return true;
    },
  });
  return (await Promise.all(pushed)).filter(Boolean).length;
}

type LockedAgent = Pick<AgentRow, 'id' | 'config'>;

async function lockActive(tx: Tx, ids: readonly string[]): Promise<ReadonlyMap<string, LockedAgent>> {
  tx.runAlone();
  const agents = await tx.db
    .selectFrom('agents')
    .select(['id', 'config'])
    .where('id', 'in', ids)
    .where('status', '=', 'active')
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
  return new Map(agents.map((agent) => [agent.id, agent]));
}

async function lockDue(tx: Tx, ids: readonly string[], now: number): Promise<readonly Due[]> {
  const rows = await tx.db
    .selectFrom('plans')
    .selectAll()
    .where('id', 'in', ids)
    .where('next_at', '<=', now)
    .orderBy('next_at')
    .orderBy('id')
    .forUpdate()
    .skipLocked()
    .execute();
  return rows.flatMap(({ next_at, ...row }) => (next_at === null ? [] : [{ ...row, next_at }]));
}

interface Times {
  readonly id: string;
  readonly nextAt: number | null;
  readonly lastAt: number | null;
}

const setTimes = statement((db, { id, nextAt, lastAt }: Params<Times>) =>
  db.updateTable('plans').set({ next_at: nextAt, last_at: lastAt }).where('id', '=', id),
);

/** The time that the event names: the first one that was missed, or with `skip` the first that is still on time. */
function dueTime(services: Pick<Services, 'logger'>, plan: Due, now: number): number | undefined {
  if (plan.misfire === 'once' || plan.next_at >= now - TOLERANCE_MS) return plan.next_at;
  const onTime = nextTime(services, plan, now - TOLERANCE_MS - 1);
  return onTime !== undefined && onTime <= now ? onTime : undefined;
}

/**
 * The pattern was valid when it was set. If it no longer is (a time zone was removed), it must not stop all other
 * plans.
 */
function nextTime(
  { logger }: Pick<Services, 'logger'>,
  { id, cron, time_zone }: Due,
  after: number,
): number | undefined {
  if (cron === null) return undefined;
  try {
    return nextCronTime({ cron, timeZone: time_zone }, after);
  } catch (error) {
    logger.error(`Plan ${id} has ended: its schedule "${cron}" (${time_zone}) can no longer be parsed.`, error);
    return undefined;
  }
}

function toPlanEvent(plan: Due, { dueAt, now }: { readonly dueAt: number; readonly now: number }): PushedEvent {
  return {
    threadId: plan.agent_id,
    eventId: `plan:${plan.id}:${dueAt}`,
    event: {
      type: 'plan',
      planId: plan.id,
      key: plan.key,
      name: fromJson(plan.name),
      instruction: fromJson(plan.instruction),
      dueAt,
      ...(dueAt < now - TOLERANCE_MS ? { late: true as const } : {}),
    },
  };
}
