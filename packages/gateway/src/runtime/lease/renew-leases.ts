import { setTimeout as sleep } from 'node:timers/promises';
import { pipeline } from '../../ports/store/pipeline.ts';
import type { Store, Tx } from '../../ports/store/store.ts';
import type { Claimant } from './lease.ts';

interface Renewal extends Claimant {
  readonly threadIds: readonly string[];
}

/**
 * Renews the leases of the threads that the owner works on, and returns the epochs it still holds, by thread. Only
 * threads that the owner knows of are renewed: a claim whose commit was never confirmed must run out.
 *
 * A thread whose row is locked is left out and tried again shortly after. Usually a write of its run has locked it, and that may wait for
 * something else for seconds. If the renewal waited too, all other leases of this gateway would run out meanwhile.
 */
export async function renewLeases(
  store: Store,
  { owner, leaseMs, threadIds }: Renewal,
): Promise<ReadonlyMap<string, number>> {
  const held = new Map<string, number>();
  let left = threadIds;
  const until = performance.now() + leaseMs * PATIENCE;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs *= 2) {
    const locked: string[] = [];
    for (let at = 0; at < left.length; at += RENEWALS_PER_TRANSACTION) {
      const batch = left.slice(at, at + RENEWALS_PER_TRANSACTION);
      const { own, renewed } = await renewBatch(store, { owner, leaseMs, threadIds: batch });
      for (const id of batch) held.delete(id);
      for (const { id, epoch } of own) held.set(id, epoch);
      locked.push(...own.flatMap(({ id }) => (renewed.has(id) ? [] : [id])));
    }
    // What is still locked is held all the same. The next renewal comes soon.
    if (locked.length === 0 || performance.now() + waitMs > until) return held;
    left = locked;
    await sleep(waitMs);
  }
}

/** The part of a lease for which locked threads are tried again. */
const PATIENCE = 0.1;
const FIRST_WAIT_MS = 5;

/**
 * Renewed rows stay locked until the commit, and other work on those threads waits. Small transactions keep that wait
 * short.
 */
const RENEWALS_PER_TRANSACTION = 100;

interface Renewed {
  /** The threads of the batch that the owner holds. */
  readonly own: readonly { readonly id: string; readonly epoch: number }[];
  /** Those that no other transaction had locked. */
  readonly renewed: ReadonlySet<string>;
}

/** The transaction is urgent: a busy gateway must not lose its threads because renewals waited in a queue. */
async function renewBatch(store: Store, { owner, leaseMs, threadIds }: Renewal): Promise<Renewed> {
  const renew = async (tx: Tx): Promise<Renewed> => {
    const ids = tx.db.selectFrom('threads').select('id').where('id', 'in', threadIds);
    const free = tx.dialect === 'postgres' ? ids.orderBy('id').forNoKeyUpdate().skipLocked() : ids;
    const [renewed, own] = await pipeline(
      tx.db
        .updateTable('threads')
        .set({ lease_until: tx.now() + leaseMs })
        .where('lease_owner', '=', owner)
        .where('id', 'in', free)
        .returning('id')
        .execute(),
      tx.db
        .selectFrom('threads')
        .select(['id', 'epoch'])
        .where('lease_owner', '=', owner)
        .where('id', 'in', threadIds)
        .execute(),
    );
    return { own, renewed: new Set(renewed.map(({ id }) => id)) };
  };
  return await store.transaction(renew, { isUrgent: true });
}
