import type { Services } from '../ports/services.ts';
import { type ActiveThread, runOnThread } from './active-thread.ts';
import type { AdmissionQueue } from './admission-queue.ts';
import { giveUpThread } from './claim/give-up-thread.ts';
import { nextRun } from './claim/next-run.ts';
import type { TranscriptCache } from './claim/transcript-cache.ts';
import type { Waiting } from './lease/release-thread.ts';
import { addWake, type OpenWake } from './open-wake.ts';
import type { ActiveRun } from './run/active-run.ts';
import { decideAfterError, type WorkerPhase } from './thread-state.ts';
import type { WorkerRegistry } from './toolset/registry.ts';

/** What the work on a held thread needs of its worker. */
export interface ThreadHost {
  readonly services: Services;
  readonly registry: WorkerRegistry;
  /** The name under which the worker holds threads. */
  readonly owner: string;
  readonly admission: AdmissionQueue;
  readonly transcriptCache: TranscriptCache;
  phase(): WorkerPhase;
}

/**
 * Performs the runs of a held thread one after the other, until it is released or cannot be. Throws `LeaseLost` if
 * another worker has taken it.
 */
export async function runThread(host: ThreadHost, thread: ActiveThread): Promise<void> {
  while (await runNext(host, thread));
}

/** Returns true if there may be more to do. */
async function runNext(host: ThreadHost, thread: ActiveThread): Promise<boolean> {
  try {
    return await performNextRun(host, thread);
  } catch (error) {
    const [state, then] = decideAfterError(thread.state, error, host.phase());
    thread.state = state;
    if (then === 'throw') throw error;
    if (then === 'pause') await pause(host.services.limits.retryMs / 2);
    return then !== 'leave';
  }
}

async function performNextRun(host: ThreadHost, thread: ActiveThread): Promise<boolean> {
  const { services, registry, admission, transcriptCache } = host;
  const { lease, state } = thread;
  if (state.kind !== 'claimed' && host.phase() === 'running')
    await admission.nextTurn(lease.threadId, { isUrgent: thread.wake === 'urgent' });
  if (host.phase() !== 'running') {
    await giveUpThread(services, lease);
    return false;
  }
  const run = state.kind === 'claimed' ? state.run : await readNextRun(host, thread);
  if (run === undefined) return false;
  // Claimed while the worker was stopping: the run is left open, and the thread is released in the next round.
  if (host.phase() === 'interrupted') return true;
  transcriptCache.forget(lease.threadId);
  const ended = await runOnThread(services, registry, thread, run);
  if (ended.transcript !== 'unknown') transcriptCache.put({ lease: run.lease, rows: ended.transcript });
  if (ended.thread === 'held') return true;
  // Other threads get their turn before the next run of this thread.
  thread.wake = addWake(thread.wake, WAKE_FOR[ended.waiting]);
  return false;
}

const WAKE_FOR: Readonly<Record<Waiting, OpenWake>> = { nothing: 'none', others: 'woken', urgent: 'urgent' };

async function readNextRun(host: ThreadHost, thread: ActiveThread): Promise<ActiveRun | undefined> {
  const { services, registry, owner, admission, transcriptCache } = host;
  const { lease, state } = thread;
  const isCommitUnknown = state.kind === 'between-runs' && state.lastCommit === 'unknown';
  const reclaim = isCommitUnknown ? { owner, leaseMs: services.limits.leaseMs } : undefined;
  thread.wake = 'none';
  try {
    return await nextRun(services, registry, lease, { transcriptCache, reclaim });
  } finally {
    admission.started();
  }
}

async function pause(ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, ms);
  await promise;
}
