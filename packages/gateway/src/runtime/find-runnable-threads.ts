import { type Kysely, type RawBuilder, sql } from 'kysely';
import { IS_WAITING } from '../domain/waiting-events.ts';
import type { Store } from '../ports/store/store.ts';
import type { Tables } from '../ports/store/tables.ts';

/** One sweep finds at most this many threads of each kind. The next sweep finds the rest. */
const MAX_FOUND = 1_000;

export interface RunnableThread {
  readonly threadId: string;
  /** A person waits for it. */
  readonly isUrgent: boolean;
}

/**
 * Finds threads that have work and nobody to do it: an event's wake was lost or its time has come, or a worker stopped or died with a run
 * open. A thread whose worker died without either has nothing to do: its lease runs out, and whoever wakes it claims it. `waitedMs`: only
 * events that have waited for as long; undefined: no events, of which there may be very many.
 */
export async function findRunnableThreads(
  store: Store,
  { waitedMs }: { waitedMs: number | undefined } = { waitedMs: 0 },
): Promise<readonly RunnableThread[]> {
  return await store.transaction(async (tx) => {
    const now = tx.now();
    const waiting = waitedMs === undefined ? [] : await threadsWithEvents(tx.db, { now, before: now - waitedMs });
    const open = await threadsWithOpenRuns(tx.db, now);
    const urgent = new Set(waiting.flatMap(({ id, priority }) => (priority === 0 ? [id] : [])));
    const found = new Set([...waiting, ...open].map(({ id }) => id));
    return [...found].map((threadId) => ({ threadId, isUrgent: urgent.has(threadId) }));
  });
}

/**
 * What these look for is little, and what sleeps is much: of all threads only those of waiting events and of open runs are looked at. As
 * joins, PostgreSQL would read all threads and agents. It does not make joins of subqueries that return a value.
 */
async function threadsWithEvents(
  db: Kysely<Tables>,
  { now, before }: { now: number; before: number },
): Promise<readonly { id: string; priority: number }[]> {
  return await db
    .selectFrom('inbox_events')
    .select(({ fn }) => ['inbox_events.thread_id as id', fn.min('priority').as('priority')])
    .where(IS_WAITING)
    .where('available_at', '<=', before)
    .groupBy('inbox_events.thread_id')
    .having(
      (eb) =>
        eb
          .selectFrom('threads')
          .innerJoin('agents', 'agents.id', 'threads.agent_id')
          .select('agents.status')
          .whereRef('threads.id', '=', 'inbox_events.thread_id')
          .where(isFree(now)),
      '=',
      'active',
    )
    .limit(MAX_FOUND)
    .execute();
}

async function threadsWithOpenRuns(db: Kysely<Tables>, now: number): Promise<readonly { id: string }[]> {
  return await db
    .selectFrom('runs')
    .select('runs.thread_id as id')
    // Part of the text, because PostgreSQL knows how many runs have this status, and for a parameter assumes that many do.
    .where(sql<boolean>`runs.status = 'running'`)
    .where(
      (eb) =>
        eb.selectFrom('threads').select('threads.id').whereRef('threads.id', '=', 'runs.thread_id').where(isFree(now)),
      'is not',
      null,
    )
    .limit(MAX_FOUND)
    .execute();
}

/** Nobody holds the thread, or whoever does has not renewed the lease. */
const isFree = (now: number): RawBuilder<boolean> =>
  sql<boolean>`(threads.lease_owner is null or threads.lease_until <= ${now})`;
