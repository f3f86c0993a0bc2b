import { IS_WAITING } from '../domain/inbox/waiting.ts';
import type { Store } from '../ports/store/store.ts';

/** At a time: the next sweep finds the rest. */
const MOST = 1_000;

/**
 * Threads that have work and nobody to do it: held by a worker that gives no sign of life, with events whose wake was lost or
 * whose time has come, or with a run that a worker left open when it stopped.
 */
export async function findSleepers(store: Store): Promise<readonly string[]> {
  return await store.transaction(async (tx) => {
    const now = tx.now();
    const left = await tx.db
      .selectFrom('threads')
      .select('id')
      // Written so that the index is used: most threads are nobody's.
      .where('lease_owner', '>', '')
      .where('lease_until', '<=', now)
      .limit(MOST)
      .execute();
    const waiting = await tx.db
      .selectFrom('inbox_events')
      .innerJoin('threads', 'threads.id', 'inbox_events.agent_id')
      .innerJoin('agents', 'agents.id', 'inbox_events.agent_id')
      .select('threads.id')
      .distinct()
      .where(IS_WAITING)
      .where('inbox_events.available_at', '<=', now)
      .where('agents.status', '=', 'active')
      .where('threads.lease_owner', 'is', null)
      .limit(MOST)
      .execute();
    const open = await tx.db
      .selectFrom('runs')
      .innerJoin('threads', 'threads.id', 'runs.thread_id')
      .select('threads.id')
      .where('runs.status', '=', 'running')
      .where('threads.lease_owner', 'is', null)
      .limit(MOST)
      .execute();
    return [...new Set([...left, ...waiting, ...open].map(({ id }) => id))];
  });
}
