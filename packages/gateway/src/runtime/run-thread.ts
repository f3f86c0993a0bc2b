import type { Services } from '../ports/services.ts';
import { type ActiveThread, runOnThread } from './active-thread.ts';
import { giveUpThread } from './claim/give-up-thread.ts';
import { nextRun } from './claim/next-run.ts';
import type { TranscriptCache } from './claim/transcript-cache.ts';
import type { ActiveRun } from './run/active-run.ts';
import type { Scheduler } from './scheduler.ts';
import { decideAfterError, type WorkerPhase } from './thread-state.ts';
import type { WorkerRegistry } from './toolset/registry.ts';

/** What the work on a held thread needs of its worker. */
export interface ThreadHost {
  readonly services: Services;
  readonly registry: WorkerRegistry;
  /** The name under which the worker holds threads. */
  readonly owner: string;
  readonly scheduler: Scheduler;
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
  const { services, registry, scheduler, transcriptCache } = host;
  const { threadId } = thread.lease;
  const getRun = (): Promise<ActiveRun | undefined> => runOrGiveUp(host, thread);
  const run = thread.state.kind === 'claimed' ? await getRun() : await scheduler.nextTurn(threadId, getRun);
  if (run === undefined) return false;
  // Claimed while the worker was stopping: the run is left open, and the thread is released in the next round.
  if (host.phase() === 'interrupted') return true;
  transcriptCache.forget(threadId);
  const ended = await runOnThread(services, registry, thread, run);
  if (ended.transcript !== 'unknown')
    transcriptCache.put({ lease: run.lease, rows: ended.transcript, state: run.state });
  if (ended.thread === 'held') return true;
  // Other threads get their turn before the next run of this thread.
  if (ended.waiting !== 'nothing') scheduler.enqueue(threadId, { isUrgent: ended.waiting === 'urgent' });
  return false;
}

/** The next run of the thread. Undefined if the thread was released. */
async function runOrGiveUp(host: ThreadHost, { lease, state }: ActiveThread): Promise<ActiveRun | undefined> {
  const { services, registry, owner, transcriptCache } = host;
  if (host.phase() !== 'running') {
    await giveUpThread(services, lease);
    return undefined;
  }
  if (state.kind === 'claimed') return state.run;
  const isCommitUnknown = state.kind === 'between-runs' && state.lastCommit === 'unknown';
  const reclaim = isCommitUnknown ? { owner, leaseMs: services.limits.leaseMs } : undefined;
  return await nextRun(services, registry, lease, { transcriptCache, reclaim });
}

async function pause(ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, ms);
  await promise;
}
