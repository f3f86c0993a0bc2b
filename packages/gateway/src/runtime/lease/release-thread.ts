import { IS_WAITING } from '../../domain/inbox/waiting-events.ts';
import { nowOrLater } from '../../ports/store/now-or-later.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { Lease } from './lease.ts';

/** Releases the thread. The transaction must hold the fence. */
export function release(tx: Tx, { threadId }: Lease): void {
  tx.send(clearLease, { threadId });
}

const clearLease = statement(
  (db, { threadId }: Params<{ threadId: string }>) =>
    db.updateTable('threads').set({ lease_owner: null, lease_until: 0 }).where('id', '=', threadId),
  { types: { threadId: 'text' }, key: 'threadId' },
);

/** Which events wait for a thread: urgent ones for a person, others, or none. */
export type Waiting = 'urgent' | 'others' | 'nothing';

/**
 * Releases the thread. The transaction must hold the fence. After the commit, the returned function says what waits for
 * the thread: a worker that tried to claim it before the commit found it held, and left its events to the holder. An
 * event that is written at the same time wakes a worker after the commit.
 */
export function releaseAndLook(tx: Tx, { threadId }: Lease): () => Waiting {
  const sent = tx.send(clearLeaseAndLook, { threadId, now: tx.now() });
  return () => {
    const priority = sent.rows[0]?.priority ?? undefined;
    if (priority === undefined) return 'nothing';
    return priority === 0 ? 'urgent' : 'others';
  };
}

const clearLeaseAndLook = statement(
  (db, { threadId, now }: Params<{ threadId: string; now: number }>) =>
    db
      .updateTable('threads')
      .set({ lease_owner: null, lease_until: 0 })
      .where('id', '=', threadId)
      .returning(({ selectFrom }) =>
        selectFrom('inbox_events')
          .select(({ fn }) => fn.min('inbox_events.priority').as('priority'))
          .where('inbox_events.thread_id', '=', threadId)
          .where(IS_WAITING)
          .where('inbox_events.available_at', '<=', nowOrLater(db, now))
          .as('priority'),
      ),
  { types: { threadId: 'text', now: 'bigint' }, key: 'threadId' },
);
