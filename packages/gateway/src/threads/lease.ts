import { LastcallError } from '@lastcall/core';
import { sql } from 'kysely';
import type { Services } from '../services.ts';
import type { Store, Tx } from '../store/store.ts';

/** A thread held by one worker. Whoever holds an older epoch of it writes nothing any more. */
export interface Lease {
  readonly threadId: string;
  readonly epoch: number;
}

/** The thread was taken over: whatever this worker still does is void. */
export class LeaseLost extends LastcallError {
  override readonly name: string = 'LeaseLost';

  constructor(threadId: string) {
    super('lease_lost', `Thread ${threadId} was taken over by another worker.`);
  }
}

/** Takes the thread if nobody holds it. */
export async function claimThread(
  tx: Tx,
  threadId: string,
  { owner, leaseMs }: { owner: string; leaseMs: number },
): Promise<Lease | undefined> {
  const now = tx.now();
  const claimed = await tx.db
    .updateTable('threads')
    .set((eb) => ({ lease_owner: owner, lease_until: now + leaseMs, epoch: eb('epoch', '+', 1) }))
    .where('id', '=', threadId)
    .where((eb) => eb.or([eb('lease_owner', 'is', null), eb('lease_until', '<=', now)]))
    .returning('epoch')
    .executeTakeFirst();
  return claimed === undefined ? undefined : { threadId, epoch: claimed.epoch };
}

/**
 * A sign of life for the threads that the owner works on. Gives the epochs it still holds, by thread. Only for those that it knows
 * of: what it holds without knowing, because it never heard of the commit of its claim, has to run out.
 */
export async function renewLeases(
  store: Store,
  { owner, leaseMs, threadIds }: { owner: string; leaseMs: number; threadIds: readonly string[] },
): Promise<ReadonlyMap<string, number>> {
  return await store.transaction(async (tx) => {
    const until = tx.now() + leaseMs;
    const held = await tx.db
      .updateTable('threads')
      .set({ lease_until: until })
      .where('lease_owner', '=', owner)
      .where('id', 'in', threadIds)
      .returning(['id', 'epoch'])
      .execute();
    return new Map(held.map(({ id, epoch }) => [id, epoch]));
  });
}

/** Lets go, if it is still held; and wakes somebody else, because there may be more to do. */
export async function letGo({ store, engine }: Pick<Services, 'store' | 'engine'>, lease: Lease): Promise<void> {
  await fenced(store, lease, async (tx) => {
    await release(tx, lease);
    await engine.enqueue(tx, lease.threadId);
  });
}

/** Lets go, in a transaction that holds the fence. */
export async function release(tx: Tx, { threadId }: Lease): Promise<void> {
  await tx.db.updateTable('threads').set({ lease_owner: null, lease_until: 0 }).where('id', '=', threadId).execute();
}

/**
 * A transaction of whoever holds the lease, and of nobody else. Its first act locks the thread's row for share: a takeover waits
 * for its commit, and after a takeover it finds another epoch. A condition in its updates alone would not do: under READ
 * COMMITTED the takeover could commit between the check and the write.
 */
export async function fenced<T>(store: Store, lease: Lease, work: (tx: Tx) => Promise<T>): Promise<T> {
  return await store.transaction(async (tx) => {
    // The lock is sent first, so it is had first; what follows need not wait for the answer, because it is undone if that is no.
    const [held, worked] = await Promise.allSettled([assertHeld(tx, lease), work(tx)]);
    if (held.status === 'rejected') throw held.reason;
    if (worked.status === 'rejected') throw worked.reason;
    return worked.value;
  });
}

async function assertHeld(tx: Tx, { threadId, epoch }: Lease): Promise<void> {
  const row = tx.db.selectFrom('threads').select('epoch').where('id', '=', threadId);
  const found = await (tx.dialect === 'postgres' ? row.modifyEnd(sql`for share`) : row).executeTakeFirst();
  if (found?.epoch !== epoch) throw new LeaseLost(threadId);
}
