import type { Services } from '../../ports/services.ts';
import type { Tx } from '../../ports/store/store.ts';
import { progressOf } from '../journal/last-seq.ts';
import { fenced, type Lease } from '../lease/lease.ts';
import { release } from '../lease/release-thread.ts';

/**
 * Releases a thread in an orderly way, whether or not its run is still open, and wakes another worker, because there
 * may be more to do. The takeover that follows does not count against the run.
 */
export async function giveUpThread({ store }: Pick<Services, 'store'>, lease: Lease): Promise<void> {
  await fenced(store, lease, async (tx) => {
    await excuseNextTakeover(tx, lease.threadId);
    release(tx, lease);
    tx.wake(lease.threadId);
  });
}

/** Every takeover of an open run adds one. The next takeover is subtracted in advance. */
async function excuseNextTakeover(tx: Tx, threadId: string): Promise<void> {
  const open = await tx.db
    .selectFrom('runs')
    .select(['id', 'attempts', 'taken_seq'])
    .where('thread_id', '=', threadId)
    .where('status', '=', 'running')
    .executeTakeFirst();
  if (open === undefined) return;
  const progress = await progressOf(tx, threadId);
  const attempts = (progress > open.taken_seq ? 0 : open.attempts) - 1;
  await tx.db.updateTable('runs').set({ attempts, taken_seq: progress }).where('id', '=', open.id).execute();
}
