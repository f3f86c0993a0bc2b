import { LastcallError } from '@lastcall/core';
import { sql } from 'kysely';
import { IS_WAITING } from '../domain/waiting-events.ts';
import type { Services } from '../ports/services.ts';
import { isRowMissing, requireRow } from '../ports/store/require-row.ts';
import { type Params, statement } from '../ports/store/statement.ts';
import type { Store, Tx } from '../ports/store/store.ts';

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
  if (tx.dialect === 'sqlite') return undefined;
  await lockThreadRow(tx.db, { threadId });
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

/** Waits until whoever is changing the row has committed. */
const lockThreadRow = statement((db, { threadId }: Params<{ threadId: string }>) =>
  db.selectFrom('threads').select('id').where('id', '=', threadId).modifyEnd(sql`for no key update`),
);

/**
 * Renews the leases of the threads that the owner works on, and returns the epochs it still holds, by thread. Only
 * threads that the owner knows of are renewed: a claim whose commit was never confirmed must run out.
 */
export async function renewLeases(
  store: Store,
  { owner, leaseMs, threadIds }: { owner: string; leaseMs: number; threadIds: readonly string[] },
): Promise<ReadonlyMap<string, number>> {
  const held = new Map<string, number>();
  for (let at = 0; at < threadIds.length; at += RENEWALS_PER_TRANSACTION) {
    const batch = threadIds.slice(at, at + RENEWALS_PER_TRANSACTION);
    for (const { id, epoch } of await renewBatch(store, { owner, leaseMs, threadIds: batch })) held.set(id, epoch);
  }
  return held;
}

/**
 * Renewed rows stay locked until the commit, and whoever works on those threads waits. Small transactions keep that
 * wait short.
 */
const RENEWALS_PER_TRANSACTION = 100;

/** The transaction is urgent: a busy gateway must not lose its threads because renewals waited in line. */
async function renewBatch(
  store: Store,
  { owner, leaseMs, threadIds }: { owner: string; leaseMs: number; threadIds: readonly string[] },
): Promise<readonly { id: string; epoch: number }[]> {
  const renew = (tx: Tx): Promise<{ id: string; epoch: number }[]> =>
    tx.db
      .updateTable('threads')
      .set({ lease_until: tx.now() + leaseMs })
      .where('lease_owner', '=', owner)
      .where('id', 'in', threadIds)
      .returning(['id', 'epoch'])
      .execute();
  return await store.transaction(renew, { isUrgent: true });
}

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
            .where(sql<number>`+available_at`, '<=', now),
        ),
      ),
    )
    .returning('threads.id'),
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
const fence = requireRow((db, { threadId, epoch }: Params<Lease>, dialect) => {
  const row = db.selectFrom('threads').select('id').where('id', '=', threadId).where('epoch', '=', epoch);
  return dialect === 'sqlite' ? row : row.modifyEnd(sql`for share`);
});
