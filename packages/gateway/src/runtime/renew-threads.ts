import { cancelRequested } from '../domain/runs/request-cancel.ts';
import type { Services } from '../ports/services.ts';
import { type ActiveThread, interruptRun } from './active-thread.ts';
import { LeaseLost } from './lease/lease.ts';
import { renewLeases } from './lease/renew-leases.ts';

/** Renews the leases of held threads. Interrupts the runs whose lease is lost, and cancels runs as requested. */
export async function renewThreads(
  { store, limits }: Pick<Services, 'store' | 'limits'>,
  owner: string,
  threads: readonly ActiveThread[],
): Promise<void> {
  if (threads.length === 0) return;
  const threadIds = threads.map(({ lease }) => lease.threadId);
  const held = await renewLeases(store, { owner, leaseMs: limits.leaseMs, threadIds });
  for (const thread of threads) {
    const { threadId, epoch } = thread.lease;
    if (held.get(threadId) !== epoch) interruptRun(thread, new LeaseLost(threadId));
  }
  await checkCancelRequests(store, threads);
}

/** A cancel notice can get lost or arrive before there is a listener. The request is also in the run's row. */
async function checkCancelRequests(store: Services['store'], threads: readonly ActiveThread[]): Promise<void> {
  const running = threads.flatMap(({ state }) => (state.kind === 'running' ? state : []));
  const runIds = running.map(({ runId }) => runId);
  const asked = await store.transaction((tx) => cancelRequested(tx.db, runIds));
  for (const { runId, cancel } of running) if (asked.has(runId)) cancel();
}
