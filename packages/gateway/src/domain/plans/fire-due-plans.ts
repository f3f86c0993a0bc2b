import type { Kysely, Selectable } from 'kysely';
import type { Services } from '../../ports/services.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { PlanRow, Tables } from '../../ports/store/schema/tables.ts';
import { type Params, searchStatement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import { lockAgentIfExists } from '../agents/lock-agent.ts';
import { doEach } from '../do-each.ts';
import { countWaiting, inboxLimit } from '../inbox/inbox-capacity.ts';
import { pushEvent } from '../inbox/push-event.ts';
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
 * Pushes an event for every plan that is due, each in a separate transaction. Returns how many fired. Plans of a paused agent
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
    fired += await doEach(services, due, {
      failed: ({ id }) => `Plan ${id} could not be fired`,
      work: (one) => fire(services, one, at),
    });
    const last = due.at(-1);
    if (last === undefined || due.length < PAGE_SIZE) return fired;
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

/**
 * Fires one plan. A second gateway finds the row locked, or no longer due. The agent is locked first, in the same order as when
 * it is deleted: it may have been paused since its plans were listed, and others may fill its inbox.
 */
async function fire(
  services: Pick<Services, 'store' | 'logger'>,
  { id, agent_id }: Listed,
  now: number,
): Promise<boolean> {
  return await services.store.transaction(async (tx) => {
    const agent = await lockAgentIfExists(tx, agent_id, 'inbox');
    if (agent?.status !== 'active') return false;
    const plan = await lockDue(tx, id, now);
    if (plan === undefined) return false;
    // The plan stays due and fires late: nothing is lost, and the inbox stays within its limit.
    if ((await countWaiting(tx.db, agent_id)) >= inboxLimit(agent, tx.limits)) return false;
    const dueAt = dueTime(services, plan, now);
    const pushed = dueAt !== undefined && (await pushPlanEvent(tx, plan, { dueAt, now }));
    const nextAt = nextTime(services, plan, now);
    await tx.db
      .updateTable('plans')
      .set({ next_at: nextAt ?? null, ...(dueAt === undefined ? {} : { last_at: dueAt }) })
      .where('id', '=', id)
      .execute();
    return pushed;
  });
}

async function lockDue(tx: Tx, id: string, now: number): Promise<Due | undefined> {
  const row = tx.db.selectFrom('plans').selectAll().where('id', '=', id).where('next_at', '<=', now);
  const found = await row.forUpdate().skipLocked().executeTakeFirst();
  return found === undefined || found.next_at === null ? undefined : { ...found, next_at: found.next_at };
}

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

async function pushPlanEvent(tx: Tx, plan: Due, { dueAt, now }: { dueAt: number; now: number }): Promise<boolean> {
  return await pushEvent(tx, {
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
  });
}
