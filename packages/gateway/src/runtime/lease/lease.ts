import { LastcallError } from '@lastcall/core';
import { forShare } from '../../ports/store/for-share.ts';
import { lockRows } from '../../ports/store/lock-rows.ts';
import { isRowMissing, requireRow } from '../../ports/store/require-row.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Store, Tx } from '../../ports/store/store.ts';

/** A thread held by one worker. A worker that holds an older epoch of the thread cannot write any more. */
export interface Lease {
  readonly threadId: string;
  readonly epoch: number;
}

/**
 * A thread that a transaction has locked: by its claim, which has answered, or by the fence, which is the first
 * statement on the connection and undoes the whole transaction if it fails. Every read that prepares work on a thread
 * takes a HeldThread, so that it cannot run before the lock: on PostgreSQL such a read would miss what a stalled worker
 * commits while the claim waits for it. Only this file creates one.
 */
export interface HeldThread {
  readonly tx: Tx;
  readonly lease: Lease;
  readonly [locked]: true;
}

declare const locked: unique symbol;

function heldBy(tx: Tx, lease: Lease): HeldThread {
  return { tx, lease } as HeldThread;
}

/** Another worker took the thread over. Everything that this worker still tries to write is refused. */
export class LeaseLost extends LastcallError {
  override readonly name: string = 'LeaseLost';

  constructor(threadId: string) {
    super('lease_lost', `Thread ${threadId} was taken over by another worker.`);
  }
}

/** The worker that claims threads, and how long its lease lasts without being renewed. */
export interface Claimant {
  readonly owner: string;
  readonly leaseMs: number;
}

/** Claims the thread if nobody holds it. */
export async function claimThread(tx: Tx, threadId: string, claimant: Claimant): Promise<HeldThread | undefined> {
  return (await tryClaim(tx, threadId, claimant)) ?? (await claimAfterChange(tx, threadId, claimant));
}

async function tryClaim(tx: Tx, threadId: string, { owner, leaseMs }: Claimant): Promise<HeldThread | undefined> {
  const now = tx.now();
  const [claimed] = await claim(tx.db, { threadId, owner, now, until: now + leaseMs });
  return claimed === undefined ? undefined : heldBy(tx, { threadId, epoch: claimed.epoch });
}

/**
 * Tries again after whoever is changing the row has committed. That may be a worker that releases the thread because it
 * did not see the event we were woken for. A plain claim would not wait for it: it would see a thread that is still
 * held.
 */
async function claimAfterChange(tx: Tx, threadId: string, claimant: Claimant): Promise<HeldThread | undefined> {
  await lockRows(tx, { threads: [threadId] });
  return await tryClaim(tx, threadId, claimant);
}

/**
 * Claims a thread again under the same epoch. For a worker that does not know whether its last transaction, which may
 * have released the thread, was committed.
 */
export async function reclaimThread(tx: Tx, { threadId, epoch }: Lease, { owner, leaseMs }: Claimant): Promise<void> {
  const reclaimed = await tx.db
    .updateTable('threads')
    .set({ lease_owner: owner, lease_until: tx.now() + leaseMs })
    .where('id', '=', threadId)
    .where('epoch', '=', epoch)
    .returning('id')
    .execute();
  if (reclaimed.length === 0) throw new LeaseLost(threadId);
}

interface Claim {
  readonly threadId: string;
  readonly owner: string;
  readonly now: number;
  readonly until: number;
}

const claim = statement((db, { threadId, owner, now, until }: Params<Claim>) =>
  db
    .updateTable('threads')
    .set((eb) => ({ lease_owner: owner, lease_until: until, epoch: eb('epoch', '+', 1) }))
    .where('id', '=', threadId)
    .where((eb) => eb.or([eb('lease_owner', 'is', null), eb('lease_until', '<=', now)]))
    .returning('epoch'),
);

/**
 * Runs a transaction that only the holder of the lease can commit. Its first statement locks the thread's row for
 * share: a takeover waits for our commit, and after a takeover the fence finds another epoch. A condition in the
 * updates alone would not be enough: under READ COMMITTED the takeover could commit between the check and the write.
 * The statements that follow do not wait for the fence's answer; they are undone if it fails.
 */
export async function fenced<T>(
  store: Store,
  lease: Lease,
  work: (tx: Tx, held: HeldThread) => Promise<T>,
): Promise<T> {
  return await store.transaction((tx) => {
    tx.send(fence, lease, (error) => (isRowMissing(error) ? new LeaseLost(lease.threadId) : error));
    return work(tx, heldBy(tx, lease));
  });
}

/**
 * On PostgreSQL the commit is sent before the answer to this statement is read, so the statement itself must fail. The lock is
 * for share, so that transactions of the same holder do not wait for each other.
 */
const fence = requireRow((db, { threadId, epoch }: Params<Lease>, dialect) =>
  forShare(db.selectFrom('threads').select('id').where('id', '=', threadId).where('epoch', '=', epoch), dialect),
);
