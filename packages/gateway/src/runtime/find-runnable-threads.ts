import type { Kysely } from 'kysely';
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
 * Finds threads that have work and nobody to do it: the lease of their worker ran out, an event's wake was lost or its
 * time has come, or a worker left a run open when it stopped. `waitedMs`: only events that have waited for as long; undefined: no
 * events, of which there may be very many.
 */
export async function findRunnableThreads(
  store: Store,
  { waitedMs }: { waitedMs: number | undefined } = { waitedMs: 0 },
): Promise<readonly RunnableThread[]> {
  return await store.transaction(async (tx) => {
    const now = tx.now();
    const abandoned = await tx.db
      .selectFrom('threads')
      .select('id')
      // The comparison is written this way so that the partial index is used: most threads have no owner.
      .where('lease_owner', '>', '')
      .where('lease_until', '<=', now)
      .limit(MAX_FOUND)
      .execute();
    const waiting = waitedMs === undefined ? [] : await threadsWithEvents(tx.db, now - waitedMs);
    const open = await tx.db
      .selectFrom('runs')
      .innerJoin('threads', 'threads.id', 'runs.thread_id')
      .select('threads.id')
      .where('runs.status', '=', 'running')
      .where('threads.lease_owner', 'is', null)
      .limit(MAX_FOUND)
      .execute();
    const urgent = new Set(waiting.flatMap(({ id, priority }) => (priority === 0 ? [id] : [])));
    const found = new Set([...abandoned, ...waiting, ...open].map(({ id }) => id));
    return [...found].map((threadId) => ({ threadId, isUrgent: urgent.has(threadId) }));
  });
}

async function threadsWithEvents(
  db: Kysely<Tables>,
  before: number,
): Promise<readonly { id: string; priority: number }[]> {
  return await db
    .selectFrom('inbox_events')
    .innerJoin('threads', 'threads.id', 'inbox_events.agent_id')
    .innerJoin('agents', 'agents.id', 'threads.agent_id')
    .select(({ fn }) => ['threads.id', fn.min('inbox_events.priority').as('priority')])
    .where(IS_WAITING)
    .where('inbox_events.available_at', '<=', before)
    .where('agents.status', '=', 'active')
    .where('threads.lease_owner', 'is', null)
    .groupBy('threads.id')
    .limit(MAX_FOUND)
    .execute();
}
