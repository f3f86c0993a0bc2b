import { lockRows } from '../../ports/store/lock-rows.ts';
import type { Store, Tx } from '../../ports/store/store.ts';
import type { Claimant } from './lease.ts';

interface Renewal extends Claimant {
  readonly threadIds: readonly string[];
}

/**
 * Renews the leases of the threads that the owner works on, and returns the epochs it still holds, by thread. Only
 * threads that the owner knows of are renewed: a claim whose commit was never confirmed must run out.
 */
export async function renewLeases(
  store: Store,
  { owner, leaseMs, threadIds }: Renewal,
): Promise<ReadonlyMap<string, number>> {
  const held = new Map<string, number>();
  for (let at = 0; at < threadIds.length; at += RENEWALS_PER_TRANSACTION) {
    const batch = threadIds.slice(at, at + RENEWALS_PER_TRANSACTION);
    for (const { id, epoch } of await renewBatch(store, { owner, leaseMs, threadIds: batch })) held.set(id, epoch);
  }
  return held;
}

/**
 * Renewed rows stay locked until the commit, and other work on those threads waits. Small transactions keep that wait
 * short.
 */
const RENEWALS_PER_TRANSACTION = 100;

/** The transaction is urgent: a busy gateway must not lose its threads because renewals waited in a queue. */
async function renewBatch(
  store: Store,
  { owner, leaseMs, threadIds }: Renewal,
): Promise<readonly { id: string; epoch: number }[]> {
  const renew = async (tx: Tx): Promise<{ id: string; epoch: number }[]> => {
    // An update locks rows in any order, so two transactions could deadlock. Locking them first in a fixed order
    // prevents that.
    await lockRows(tx, { threads: threadIds });
    return await tx.db
      .updateTable('threads')
      .set({ lease_until: tx.now() + leaseMs })
      .where('lease_owner', '=', owner)
      .where('id', 'in', threadIds)
      .returning(['id', 'epoch'])
      .execute();
  };
  return await store.transaction(renew, { isUrgent: true });
}
