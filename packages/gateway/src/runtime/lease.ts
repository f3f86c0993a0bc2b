import { LastcallError } from '@lastcall/core';
import { sql } from 'kysely';
import { IS_WAITING } from '../domain/inbox/waiting.ts';
import type { Services } from '../ports/services.ts';
import { isRowMissing, requireRow } from '../ports/store/require-row.ts';
import { type Params, statement } from '../ports/store/statement.ts';
import type { Store, Tx } from '../ports/store/store.ts';

/** A thread held by one worker. Whoever holds an older epoch of it writes nothing any more. */
export interface Lease {
  readonly threadId: string;
  readonly epoch: number;
}

/**
 * A thread that a transaction has locked: by its claim, which has answered, or by the fence, which is ahead of everything else on the
 * connection and undoes the whole transaction where it fails. Whatever is read of a thread to go on with it takes one of these, so
 * that it cannot be read before the lock: on PostgreSQL such a read would miss what a stalled worker commits while the claim waits
 * for it. Made by this file only.
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

/** The thread was taken over: whatever this worker still does is void. */
export class LeaseLost extends LastcallError {
  override readonly name: string = 'LeaseLost';

  constructor(threadId: string) {
    super('lease_lost', `Thread ${threadId} was taken over by another worker.`);
  }
}

/** Who holds threads, and for how long without a sign of life. */
export interface Claimant {
  readonly owner: string;
  readonly leaseMs: number;
}

/** Takes the thread if nobody holds it. */
export async function claimThread(tx: Tx, threadId: string, claimant: Claimant): Promise<HeldThread | undefined> {
  return (await tryClaim(tx, threadId, claimant)) ?? (await claimAfterChange(tx, threadId, claimant));
}

async function tryClaim(tx: Tx, threadId: string, { owner, leaseMs }: Claimant): Promise<HeldThread | undefined> {
  const now = tx.now();
  const [claimed] = await claim(tx.db, { threadId, owner, now, until: now + leaseMs });
  return claimed === undefined ? undefined : heldBy(tx, { threadId, epoch: claimed.epoch });
}

/**
 * Once more, when whoever is changing the row is done: somebody may be about to let it go, upon an inbox in which what we were woken
 * for was not yet. A claim by itself does not wait for that: it sees a thread that is held.
 */
async function claimAfterChange(tx: Tx, threadId: string, claimant: Claimant): Promise<HeldThread | undefined> {
  if (tx.dialect === 'sqlite') return undefined;
  await awaitChange(tx.db, { threadId });
  return await tryClaim(tx, threadId, claimant);
}

/** Takes a thread once more that may have been let go: whoever does not know whether its last transaction was made. */
export async function regainThread(tx: Tx, { threadId, epoch }: Lease, { owner, leaseMs }: Claimant): Promise<void> {
  const regained = await tx.db
    .updateTable('threads')
    .set({ lease_owner: owner, lease_until: tx.now() + leaseMs })
    .where('id', '=', threadId)
    .where('epoch', '=', epoch)
    .returning('id')
    .execute();
  if (regained.length === 0) throw new LeaseLost(threadId);
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

/** Waits for whoever is changing the row. */
const awaitChange = statement((db, { threadId }: Params<{ threadId: string }>) =>
  db.selectFrom('threads').select('id').where('id', '=', threadId).modifyEnd(sql`for no key update`),
);

/**
 * A sign of life for the threads that the owner works on. Gives the epochs it still holds, by thread. Only for those that it knows
 * of: what it holds without knowing, because it never heard of the commit of its claim, has to run out.
 */
export async function renewLeases(
  store: Store,
  { owner, leaseMs, threadIds }: { owner: string; leaseMs: number; threadIds: readonly string[] },
): Promise<ReadonlyMap<string, number>> {
  const held = new Map<string, number>();
  for (let at = 0; at < threadIds.length; at += RENEWED_AT_ONCE) {
    const some = threadIds.slice(at, at + RENEWED_AT_ONCE);
    for (const { id, epoch } of await renewSome(store, { owner, leaseMs, threadIds: some })) held.set(id, epoch);
  }
  return held;
}

/** What is renewed stays locked until the commit, and whoever works on it waits. */
const RENEWED_AT_ONCE = 100;

/** Ahead of others: a gateway that has much to do must not lose its threads by it. */
async function renewSome(
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

/** Lets go, if it is still held; and wakes somebody else, because there may be more to do. */
export async function releaseThread(
  { store, engine }: Pick<Services, 'store' | 'engine'>,
  lease: Lease,
): Promise<void> {
  await fenced(store, lease, async (tx) => {
    release(tx, lease);
    await engine.enqueue(tx, lease.threadId);
  });
}

/** Lets go, in a transaction that holds the fence. */
export function release(tx: Tx, { threadId }: Lease): void {
  tx.send(free, { threadId });
}

const free = statement((db, { threadId }: Params<{ threadId: string }>) =>
  db.updateTable('threads').set({ lease_owner: null, lease_until: 0 }).where('id', '=', threadId),
);

/**
 * Lets go unless something waits, in a transaction that holds the fence. What is written meanwhile wakes somebody after it. Whether
 * it did can be asked after the commit.
 */
export function releaseIfIdle(tx: Tx, { threadId }: Lease): () => boolean {
  const sent = tx.send(freeIfIdle, { threadId, now: tx.now() });
  return () => sent.rows.length > 0;
}

const freeIfIdle = statement((db, { threadId, now }: Params<{ threadId: string; now: number }>) =>
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
 * A transaction of whoever holds the lease, and of nobody else. Its first act locks the thread's row for share: a takeover waits
 * for its commit, and after a takeover it finds another epoch. A condition in its updates alone would not do: under READ
 * COMMITTED the takeover could commit between the check and the write. What follows does not wait for the answer, and is undone if
 * that is no.
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

/** The lock is for share: transactions of the same holder do not wait for each other. */
const fence = requireRow((db, { threadId, epoch }: Params<Lease>, dialect) => {
  const row = db.selectFrom('threads').select('id').where('id', '=', threadId).where('epoch', '=', epoch);
  return dialect === 'sqlite' ? row : row.modifyEnd(sql`for share`);
});
