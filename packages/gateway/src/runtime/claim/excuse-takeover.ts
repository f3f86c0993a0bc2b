import type { Store } from '../../ports/store/store.ts';

/**
 * Every takeover by another worker from one that did not release its run counts against the run. A worker that notices that it lost
 * its lease was slow, but not dead or blocked, so the run did not stop it. The takeover is subtracted again.
 */
export async function excuseTakeover(store: Store, runId: string): Promise<void> {
  await store.transaction((tx) =>
    tx.db
      .updateTable('runs')
      .set((eb) => ({ attempts: eb('attempts', '-', 1) }))
      .where('id', '=', runId)
      .where('status', '=', 'running')
      .execute(),
  );
}
