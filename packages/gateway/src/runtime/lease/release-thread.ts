import { sql } from 'kysely';
import { IS_WAITING } from '../../domain/waiting-events.ts';
import type { Services } from '../../ports/services.ts';
import { nowOrLater } from '../../ports/store/now-or-later.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import { fenced, type Lease } from './lease.ts';

/** Releases the thread, if it is still held, and wakes another worker, because there may be more to do. */
export async function releaseThread(
  { store, engine }: Pick<Services, 'store' | 'engine'>,
  lease: Lease,
): Promise<void> {
  await fenced(store, lease, async (tx) => {
    release(tx, lease);
    engine.enqueue(tx, lease.threadId);
  });
}

/** Releases the thread. The transaction must hold the fence. */
export function release(tx: Tx, { threadId }: Lease): void {
  tx.send(clearLease, { threadId });
}

const clearLease = statement((db, { threadId }: Params<{ threadId: string }>) =>
  db.updateTable('threads').set({ lease_owner: null, lease_until: 0 }).where('id', '=', threadId),
);

/**
 * Releases the thread unless an event waits. The transaction must hold the fence. An event that is written at the same
 * time wakes a worker after the commit. After the commit, the returned function says whether the thread was released.
 */
export function releaseIfIdle(tx: Tx, { threadId }: Lease): () => boolean {
  const sent = tx.send(clearLeaseIfIdle, { threadId, now: tx.now() });
  return () => sent.rows.length > 0;
}

const clearLeaseIfIdle = statement((db, { threadId, now }: Params<{ threadId: string; now: number }>) =>
  db
    .updateTable('threads')
    .set({ lease_owner: null, lease_until: 0 })
    .where('id', '=', threadId)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('inbox_events')
            .select('inbox_events.id')
            .where('inbox_events.agent_id', '=', threadId)
            .where(IS_WAITING)
            // The release may wait for whoever claims the thread, who leaves the events that came meanwhile to its holder.
            .where(sql<number>`+available_at`, '<=', nowOrLater(db, now)),
        ),
      ),
    )
    .returning('threads.id'),
);
