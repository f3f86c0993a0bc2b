import type { Services } from '../ports/services.ts';
import { type ActiveThread, runOnThread } from './active-thread.ts';
import type { AdmissionQueue } from './admission-queue.ts';
import { giveUpThread } from './claim/give-up-thread.ts';
import { nextCycle } from './claim/next-cycle.ts';
import type { TranscriptCache } from './claim/transcript-cache.ts';
import type { Waiting } from './lease/release-thread.ts';
import { addWake, type OpenWake } from './open-wake.ts';
import type { Cycle } from './run/cycle.ts';
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
 * Runs the cycles of a held thread one after the other, until it is released or cannot be. Throws `LeaseLost` if
 * another worker has taken it.
 */
export async function runThread(host: ThreadHost, thread: ActiveThread): Promise<void> {
  while (await runNext(host, thread));
}

/** Returns true if there may be more to do. */
async function runNext(host: ThreadHost, thread: ActiveThread): Promise<boolean> {
  try {
    return await runNextCycle(host, thread);
  } catch (error) {
    const [state, then] = decideAfterError(thread.state, error, host.phase());
    thread.state = state;
    if (then === 'throw') throw error;
    if (then === 'pause') await pause(host.services.limits.retryMs / 2);
    return then !== 'leave';
  }
}

async function runNextCycle(host: ThreadHost, thread: ActiveThread): Promise<boolean> {
  const { services, registry, admission, transcriptCache } = host;
  const { lease, state } = thread;
  if (state.kind !== 'claimed' && host.phase() === 'running')
    await admission.nextTurn(lease.threadId, { isUrgent: thread.wake === 'urgent' });
  if (host.phase() !== 'running') {
    await giveUpThread(services, lease);
    return false;
  }
  const cycle = state.kind === 'claimed' ? state.cycle : await readNextCycle(host, thread);
  if (cycle === undefined) return false;
  // Claimed while the worker was stopping: the run is left open, and the thread is released in the next round.
  if (host.phase() === 'interrupted') return true;
  transcriptCache.forget(lease.threadId);
  const ended = await runOnThread(services, registry, thread, cycle);
  if (ended.transcript !== 'unknown') transcriptCache.put({ lease: cycle.lease, rows: ended.transcript });
  if (ended.thread === 'held') return true;
  // Other threads get their turn before the next cycle of this thread.
  thread.wake = addWake(thread.wake, WAKE_FOR[ended.waiting]);
  return false;
}

const WAKE_FOR: Readonly<Record<Waiting, OpenWake>> = { nothing: 'none', others: 'woken', urgent: 'urgent' };

async function readNextCycle(host: ThreadHost, thread: ActiveThread): Promise<Cycle | undefined> {
  const { services, registry, owner, admission, transcriptCache } = host;
  const { lease, state } = thread;
  const isCommitUnknown = state.kind === 'between-cycles' && state.lastCommit === 'unknown';
  const reclaim = isCommitUnknown ? { owner, leaseMs: services.limits.leaseMs } : undefined;
  thread.wake = 'none';
  try {
    return await nextCycle(services, registry, lease, { transcriptCache, reclaim });
  } finally {
    admission.started();
  }
}

async function pause(ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, ms);
  await promise;
}
