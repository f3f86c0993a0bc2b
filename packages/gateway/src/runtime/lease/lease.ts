import { LastcallError } from '@lastcall/core';
import { forShare } from '../../ports/store/for-share.ts';
import { lockRows } from '../../ports/store/lock-rows.ts';
import { pipeline } from '../../ports/store/pipeline.ts';
import { isRowMissing, requireRow } from '../../ports/store/require-row.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Store, TransactionOptions, Tx } from '../../ports/store/store.ts';

/** A thread that one worker holds. A worker with an older epoch of the thread can no longer write. */
export interface Lease {
  readonly threadId: string;
  readonly epoch: number;
}

/**
 * A thread that a transaction locks with an earlier statement: its claim, or the fence. Every read that prepares work
 * on a thread takes a LockedThread, so that it runs after the lock: on PostgreSQL an earlier read would miss what a
 * stalled worker commits while the claim waits for it. If the claim fails, what was read is discarded; if the fence
 * fails, the whole transaction is undone. Only this file creates one.
 */
export interface LockedThread {
  readonly tx: Tx;
  readonly threadId: string;
  readonly [locked]: true;
}

/** A thread that this worker holds until the end of the transaction. Otherwise the transaction is rolled back. */
export interface HeldThread extends LockedThread {
  readonly lease: Lease;
}

declare const locked: unique symbol;

function heldBy(tx: Tx, lease: Lease): HeldThread {
  return { tx, threadId: lease.threadId, lease } as HeldThread;
}

/** Another worker took the thread over. All further writes of this worker are refused. */
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

/** A claimed thread, and what was read of it. */
export interface ClaimedThread<T> {
  readonly held: HeldThread;
  readonly found: T;
}

/** Reads a thread. It must only read: what it reads may be thrown away, and it may be called twice. */
type ReadThread<T> = (thread: LockedThread) => Promise<T>;

/** Claims the thread if it is free, and reads it in the same round trip. */
export async function claimThread<T>(
  tx: Tx,
  threadId: string,
  claimant: Claimant,
  read: ReadThread<T>,
): Promise<ClaimedThread<T> | undefined> {
  return (await tryClaim(tx, threadId, claimant, read)) ?? (await claimAfterChange(tx, threadId, claimant, read));
}

async function tryClaim<T>(
  tx: Tx,
  threadId: string,
  { owner, leaseMs }: Claimant,
  read: ReadThread<T>,
): Promise<ClaimedThread<T> | undefined> {
  const now = tx.now();
  const claiming = claim(tx.db, { threadId, owner, now, until: now + leaseMs });
  const [[claimed], found] = await pipeline(claiming, read({ tx, threadId } as LockedThread));
  if (claimed === undefined) return undefined;
  const lease = { threadId, epoch: claimed.epoch };
  // After a long wait for the row the lease begins now. Otherwise it might be over before it is renewed for the first time.
  const held = heldBy(tx, lease);
  if (tx.now() - now > leaseMs / 3) extendLease(held, leaseMs);
  return { held, found };
}

/**
 * Tries again after the transaction that is changing the row has committed. It may be a worker that releases the thread
 * because it did not see the event we were woken for. A plain claim would not wait for it: it would see a thread that
 * is still held.
 */
async function claimAfterChange<T>(
  tx: Tx,
  threadId: string,
  claimant: Claimant,
  read: ReadThread<T>,
): Promise<ClaimedThread<T> | undefined> {
  await lockRows(tx, { threads: [threadId] });
  return await tryClaim(tx, threadId, claimant, read);
}

/**
 * Claims a thread again under the same epoch, for a worker that does not know whether its last transaction was
 * committed and released the thread.
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

const claim = statement(
  (db, { threadId, owner, now, until }: Params<Claim>) =>
    db
      .updateTable('threads')
      .set((eb) => ({ lease_owner: owner, lease_until: until, epoch: eb('epoch', '+', 1) }))
      .where('id', '=', threadId)
      .where((eb) => eb.or([eb('lease_owner', 'is', null), eb('lease_until', '<=', now)]))
      .returning('epoch'),
  { types: { threadId: 'text', owner: 'text', now: 'bigint', until: 'bigint' }, key: 'threadId' },
);

/** Lets the lease begin now: what came after the claim in its transaction may have taken long. */
export function extendLease({ tx, lease }: HeldThread, leaseMs: number): void {
  tx.send(extend, { ...lease, until: tx.now() + leaseMs });
}

const extend = statement(
  (db, { threadId, epoch, until }: Params<Lease & { until: number }>) =>
    db.updateTable('threads').set({ lease_until: until }).where('id', '=', threadId).where('epoch', '=', epoch),
  { types: { threadId: 'text', epoch: 'bigint', until: 'bigint' }, key: 'threadId' },
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
  { group }: Pick<TransactionOptions, 'group'> = {},
): Promise<T> {
  const fencedWork = (tx: Tx): Promise<T> => {
    tx.send(fence, lease, (error) => (isRowMissing(error) ? new LeaseLost(lease.threadId) : error));
    return work(tx, heldBy(tx, lease));
  };
  // Work in progress goes before new work: otherwise unfinished runs would pile up.
  return await store.transaction(fencedWork, { isUrgent: true, group });
}

/**
 * On PostgreSQL the commit is sent before the answer to this statement is read, so the statement itself must fail. The lock is
 * for share, so that transactions of the same holder do not wait for each other.
 */
const fence = requireRow(
  (db, { threadId, epoch }: Params<Lease>, dialect) =>
    forShare(db.selectFrom('threads').select('id').where('id', '=', threadId).where('epoch', '=', epoch), dialect),
  { types: { threadId: 'text', epoch: 'bigint' }, key: 'threadId' },
);
