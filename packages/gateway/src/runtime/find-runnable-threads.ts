import { type RawBuilder, sql } from 'kysely';
import { IS_WAITING } from '../domain/inbox/waiting-events.ts';
import { type Param, type Params, searchStatement } from '../ports/store/statement.ts';
import type { Store } from '../ports/store/store.ts';

/** One sweep finds at most this many threads of each kind. The next sweep finds the rest. */
const MAX_FOUND = 1_000;

export interface RunnableThread {
  readonly threadId: string;
  /** A person waits for it. */
  readonly isUrgent: boolean;
  /** It has an open run and no holder. */
  readonly isAbandoned: boolean;
}

/**
 * Finds threads that have work and no worker: the wake of an event was lost, an event has become due, or a worker
 * stopped or died with an open run. A thread whose worker died without either has no work: its lease runs out, and the
 * next worker that is woken claims it. `waitedMs`: finds only events that have waited this long; undefined: finds no
 * events, because there may be very many.
 */
export async function findRunnableThreads(
  store: Store,
  { waitedMs }: { waitedMs: number | undefined } = { waitedMs: 0 },
): Promise<readonly RunnableThread[]> {
  return await store.transaction(async (tx) => {
    const now = tx.now();
    const waiting = waitedMs === undefined ? [] : await threadsWithEvents(tx.db, { now, before: now - waitedMs });
    const open = await threadsWithOpenRuns(tx.db, { now });
    const urgent = new Set(waiting.flatMap(({ id, priority }) => (priority === 0 ? [id] : [])));
    const abandoned = new Set(open.map(({ id }) => id));
    const found = new Set([...waiting, ...open].map(({ id }) => id));
    return [...found].map((id) => ({ threadId: id, isUrgent: urgent.has(id), isAbandoned: abandoned.has(id) }));
  });
}

/**
 * Few threads have work, and most are idle, so only the threads of waiting events and of open runs are read. With
 * joins, PostgreSQL would read all threads and agents. It does not turn subqueries that return a value into joins.
 */
const threadsWithEvents = searchStatement((db, { now, before }: Params<{ now: number; before: number }>) =>
  db
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
    .limit(MAX_FOUND),
);

const threadsWithOpenRuns = searchStatement((db, { now }: Params<{ now: number }>) =>
  db
    .selectFrom('runs')
    .select('runs.thread_id as id')
    // The status is a literal, because PostgreSQL knows how many runs have this status. For a parameter it would assume
    // many.
    .where(sql<boolean>`runs.status = 'running'`)
    .where(
      (eb) =>
        eb.selectFrom('threads').select('threads.id').whereRef('threads.id', '=', 'runs.thread_id').where(isFree(now)),
      'is not',
      null,
    )
    .limit(MAX_FOUND),
);

/** The thread has no holder, or its holder has not renewed the lease. */
const isFree = (now: Param<number>): RawBuilder<boolean> =>
  sql<boolean>`(threads.lease_owner is null or threads.lease_until <= ${now})`;
