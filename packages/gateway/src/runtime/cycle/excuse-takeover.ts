import type { Store } from '../../ports/store/store.ts';

/**
 * Every takeover from a worker that did not give its run up counts against the run. A worker that finds its lease lost was slow, and is
 * neither dead nor blocked, so the run did not stop it: its takeover is taken off again.
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
