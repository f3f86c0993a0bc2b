import type { Kysely } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { firstIdAt } from '../new-id.ts';
import { throughAgents, type View } from '../projects/view.ts';
import { usageReport } from '../usage/usage-report.ts';
import { dayOf } from '../usage/usage-row.ts';
import { type CountedRun, countedRuns, listCountedRuns } from './run-details.ts';

/** What an operator wants to know first. Forks and drafts are trials: their runs do not count, and their cost does. */
export interface Home {
  /** The runs that are under way, newest first. */
  readonly atWork: readonly CountedRun[];
  /** The runs of the last day that failed and were not tried again with success, newest first. */
  readonly failed: readonly CountedRun[];
  /** Today and the days before it, newest first, in UTC. */
  readonly days: readonly HomeDay[];
}

interface HomeDay {
  readonly day: string;
  /** The runs that began on this day. */
  readonly runs: number;
  readonly failed: number;
  /** How long the runs took that have ended, without the time that their calls waited for people. Missing if there were none. */
  readonly medianMs?: number;
  readonly p95Ms?: number;
  /** Set if the day had more runs than were read: the figures are those of its newest runs. */
  readonly sampled?: true;
  readonly requests: number;
  readonly tokens: number;
  /** Null if the price of a model is not configured, or the day has several currencies. */
  readonly cost: number | null;
  readonly currency?: string;
}

const DAY_MS = 86_400_000;
const DAYS = 8;
const MOST_LISTED = 20;
/** Enough for a median that does not jump. The newest runs of each day are read by the primary key. */
const MOST_A_DAY = 1_000;

export async function getHome(db: Kysely<Tables>, { view, now }: { view: View; now: number }): Promise<Home> {
  const { items: atWork } = await listCountedRuns(db, { status: 'running', limit: MOST_LISTED, view });
  return { atWork, failed: await failedRuns(db, { view, now }), days: await daysUntil(db, { view, now }) };
}

interface Scope {
  readonly view: View;
  readonly now: number;
}

/** Runs whose events are dead or wait for the next attempt. Those that were redriven have lost their events. */
async function failedRuns(db: Kysely<Tables>, { view, now }: Scope): Promise<readonly CountedRun[]> {
  const rows = await db
    .selectFrom('runs')
    .innerJoin('threads', 'threads.id', 'runs.thread_id')
    .select('runs.id')
    .where('runs.status', '=', 'failed')
    .where('threads.is_fork', '=', 0)
    .where('runs.created_at', '>=', now - DAY_MS)
    // The id of a run that takes an answer is older than the run. The bound keeps the search from reading all runs.
    .where('runs.id', '>=', firstIdAt(now - DAYS * DAY_MS))
    .where(throughAgents(view, 'threads.agent_id'))
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('inbox_events')
          .select('inbox_events.id')
          .whereRef('inbox_events.run_id', '=', 'runs.id')
          .where('inbox_events.status', 'in', ['dead', 'pending']),
      ),
    )
    .orderBy('runs.id', 'desc')
    .limit(MOST_LISTED)
    .execute();
  return await countedRuns(
    db,
    rows.map(({ id }) => id),
  );
}

async function daysUntil(db: Kysely<Tables>, { view, now }: Scope): Promise<readonly HomeDay[]> {
  const starts = Array.from({ length: DAYS }, (_, back) => Date.parse(dayOf(now)) - back * DAY_MS);
  const [to, from] = [dayOf(now), dayOf(starts.at(-1) ?? now)];
  const { items } = await usageReport(db, { by: ['day'], from, to, view, now });
  const days: HomeDay[] = [];
  for (const start of starts) {
    const day = dayOf(start);
    const used = items.filter((item) => item.day === day);
    days.push({ day, ...(await runFigures(db, { view, start })), ...spentOn(used) });
  }
  return days;
}

async function runFigures(
  db: Kysely<Tables>,
  { view, start }: { view: View; start: number },
): Promise<Pick<HomeDay, 'runs' | 'failed' | 'medianMs' | 'p95Ms' | 'sampled'>> {
  const rows = await db
    .selectFrom('runs')
    .innerJoin('threads', 'threads.id', 'runs.thread_id')
    .select(['runs.status', 'runs.created_at', 'runs.ended_at'])
    .where('runs.id', '>=', firstIdAt(start))
    .where('runs.id', '<', firstIdAt(start + DAY_MS))
    .where('threads.is_fork', '=', 0)
    .where(throughAgents(view, 'threads.agent_id'))
    .orderBy('runs.id', 'desc')
    .limit(MOST_A_DAY)
    .execute();
  const lasted = rows
    .flatMap(({ created_at, ended_at }) => (ended_at === null ? [] : [ended_at - created_at]))
    .toSorted((a, b) => a - b);
  const at = (share: number): number | undefined =>
    lasted[Math.min(lasted.length - 1, Math.floor(lasted.length * share))];
  const [medianMs, p95Ms] = [at(0.5), at(0.95)];
  return {
    runs: rows.length,
    failed: rows.filter(({ status }) => status === 'failed').length,
    ...(medianMs === undefined ? {} : { medianMs }),
    ...(p95Ms === undefined ? {} : { p95Ms }),
    ...(rows.length === MOST_A_DAY ? { sampled: true } : {}),
  };
}

type Used = Awaited<ReturnType<typeof usageReport>>['items'];

function spentOn(used: Used): Pick<HomeDay, 'requests' | 'tokens' | 'cost' | 'currency'> {
  const [first, ...others] = used;
  const isOneCurrency = others.every(({ currency }) => currency === first?.currency);
  const costs = used.map(({ cost }) => cost);
  return {
    requests: used.reduce((sum, { requests }) => sum + requests, 0),
    tokens: used.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0),
    cost: isOneCurrency && !costs.includes(null) ? costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0) : null,
    ...(first === undefined || !isOneCurrency ? {} : { currency: first.currency }),
  };
}
