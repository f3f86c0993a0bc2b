import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { JournalStalled } from '@lastcall/core';
import { cancelRequested } from '../domain/runs/request-cancel.ts';
import type { Services } from '../ports/services.ts';
import { StoreUnavailable } from '../ports/store/store-error.ts';
import { type ActiveThread, createActiveThread, runOnThread } from './active-thread.ts';
import { AdmissionQueue, type Wait } from './admission-queue.ts';
import { BackgroundTasks } from './background-tasks.ts';
import { excuseTakeover } from './claim/excuse-takeover.ts';
import { giveUpThread } from './claim/give-up-thread.ts';
import { claimNextCycle, nextCycle } from './claim/next-cycle.ts';
import { TranscriptCache } from './claim/transcript-cache.ts';
import { findRunnableThreads } from './find-runnable-threads.ts';
import { LeaseLost } from './lease/lease.ts';
import { renewLeases } from './lease/renew-leases.ts';
import { CycleInterrupted } from './loops/cycle-interrupted.ts';
import { keepsThread } from './loops/leaves-run-open.ts';
import type { Cycle } from './run/cycle.ts';
import { atMost } from './tools/at-most.ts';
import type { Registry, WorkerRegistry } from './toolset/registry.ts';
import { ToolCaches } from './toolset/tool-caches.ts';

/** A thread that is about to be claimed. */
interface PendingWake extends Wait {
  wokenAgain: boolean;
  isUrgent: boolean;
  readonly done: Promise<void>;
}

/**
 * How long a stop waits for the last writes of interrupted cycles. A database that neither answers nor closes the
 * connection must not keep the process alive: another worker takes over when the leases have run out, as after a kill.
 */
const LAST_WRITES_MS = 5_000;

/**
 * An overloaded worker looks for lost wakes only once in this many sweeps, and only for events that have waited that
 * long: most wakes are not lost but queued at another worker, and a worker that takes such a thread has to read its
 * history again.
 */
const OVERLOADED_SWEEPS = 5;

/**
 * Runs cycles for the threads that are woken: one cycle at a time per thread, many threads in parallel. A wake may come
 * twice or get lost: the thread's row decides which worker holds it, and the sweep finds threads whose wake was lost.
 */
export class Worker {
  readonly #services: Services;
  readonly #registry: WorkerRegistry;
  readonly #owner: string = `${hostname()}:${process.pid}:${randomUUID()}`;
  readonly #active = new Map<string, ActiveThread>();
  readonly #pendingWakes = new Map<string, PendingWake>();
  readonly #admission: AdmissionQueue;
  readonly #transcriptCache = new TranscriptCache();
  /** Runs until the last thread is released. */
  readonly #renewals: BackgroundTasks;
  readonly #sweeps: BackgroundTasks;
  /** How many sweeps in a row found the worker overloaded. */
  #overloadedSweeps = 0;
  #isStopping = false;
  /** The grace time is over: no further cycle starts, not even for a thread that is just being claimed. */
  #isInterrupted = false;

  constructor(services: Services, registry: Registry) {
    this.#services = services;
    this.#registry = { ...registry, toolCaches: new ToolCaches() };
    const { store, limits, logger } = services;
    this.#renewals = new BackgroundTasks(logger);
    this.#sweeps = new BackgroundTasks(logger);
    this.#admission = new AdmissionQueue({
      slots: limits.cycles,
      startsAtOnce: store.claimsAtOnce,
      isBusy: () => store.isBusy,
    });
  }

  /** The name under which the worker holds threads. */
  get id(): string {
    return this.#owner;
  }

  /**
   * Starts the worker. Every sweep has its own timer, so that none waits for another that is slow or fails. This
   * matters most for the sweep that wakes lost threads.
   */
  async start({ sweeps }: { sweeps: readonly (() => Promise<unknown>)[] }): Promise<void> {
    const { leaseMs, sweepMs } = this.#services.limits;
    // Two renewals may be missed before the lease runs out.
    this.#renewals.repeat(Math.floor(leaseMs / 3), () => this.#renewLeases());
    for (const sweep of sweeps) this.#sweeps.repeat(sweepMs, sweep);
    const wakeRunnable = this.#sweeps.repeat(sweepMs, async () => {
      const waitedMs = this.#lostAfterMs();
      for (const { threadId, isUrgent } of await findRunnableThreads(this.#services.store, { waitedMs })) {
        const pendingWake = this.#pendingWakes.get(threadId);
        // The worker that is about to claim the thread, or holds it, finds the same work as the sweep.
        if (pendingWake !== undefined) this.#prioritize(threadId, pendingWake, isUrgent);
        else if (!this.#active.has(threadId)) void this.wake(threadId, { isUrgent });
      }
    });
    await this.#services.engine.start((threadId, options) => this.wake(threadId, options));
    // Threads that a dead gateway left should not wait for the first sweep.
    await wakeRunnable();
  }

  /**
   * How long an event must have waited until this sweep treats its wake as lost. Undefined if this sweep looks for
   * none.
   */
  #lostAfterMs(): number | undefined {
    this.#overloadedSweeps = this.#admission.hasWaiting ? this.#overloadedSweeps + 1 : 0;
    if (this.#overloadedSweeps === 0) return 0;
    return this.#overloadedSweeps % OVERLOADED_SWEEPS === 0
      ? OVERLOADED_SWEEPS * this.#services.limits.sweepMs
      : undefined;
  }

  /** Resolves once the thread is claimed or there is nothing to claim. `isUrgent`: a person waits for it. */
  async wake(threadId: string, { isUrgent = false, hadTurn = false }: Partial<Wait> = {}): Promise<void> {
    const known = this.#active.get(threadId) ?? this.#pendingWakes.get(threadId);
    if (known !== undefined) {
      known.wokenAgain = true;
      this.#prioritize(threadId, known, isUrgent);
    }
    if (known !== undefined || this.#isStopping) return;
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const pendingWake: PendingWake = { wokenAgain: false, isUrgent, hadTurn, done };
    this.#pendingWakes.set(threadId, pendingWake);
    await this.#claimWhenAdmitted(threadId, pendingWake);
    this.#pendingWakes.delete(threadId);
    resolve();
    const claimed = this.#active.get(threadId);
    if (!pendingWake.wokenAgain) return;
    // The wake may be for something newer than what the claim has read.
    if (claimed === undefined) await this.wake(threadId, pendingWake);
    else {
      claimed.wokenAgain = true;
      claimed.isUrgent ||= pendingWake.isUrgent;
    }
  }

  #prioritize(threadId: string, known: Pick<PendingWake, 'isUrgent'>, isUrgent: boolean): void {
    known.isUrgent ||= isUrgent;
    if (isUrgent) this.#admission.prioritize(threadId);
  }

  async #claimWhenAdmitted(threadId: string, pendingWake: PendingWake): Promise<void> {
    await this.#admission.acquire(threadId, pendingWake);
    try {
      const { isUrgent } = pendingWake;
      pendingWake.wokenAgain = false;
      // The urgency of this wake is used up. A later wake sets it again.
      pendingWake.isUrgent = false;
      if (this.#isStopping || !(await this.#claim(threadId, isUrgent))) this.#admission.release();
    } catch (error) {
      this.#admission.release();
      if (!(error instanceof StoreUnavailable))
        this.#services.logger.error(`Thread ${threadId} could not be claimed.`, error);
    } finally {
      this.#admission.started();
    }
  }

  /** Claims no more threads, lets cycles finish in the grace time, and leaves the rest to other workers. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#sweeps.stop();
    await this.#services.engine.stop();
    this.#admission.admitAll();
    const all = Promise.allSettled([...this.#active.values()].map(({ done }) => done));
    await atMost(this.#services.limits.graceMs, all);
    this.#isInterrupted = true;
    for (const { abort } of this.#active.values()) abort.abort(new CycleInterrupted());
    await atMost(LAST_WRITES_MS, this.#releaseAll());
    this.#renewals.stop();
  }

  async #releaseAll(): Promise<void> {
    await Promise.allSettled([...this.#active.values()].map(({ done }) => done));
    // Threads that were being claimed when the stop came are released too, so that other workers need not wait for
    // their leases to run out.
    await Promise.allSettled([...this.#pendingWakes.values()].map(({ done }) => done));
    await Promise.allSettled([...this.#active.values()].map(({ done }) => done));
  }

  /** The number of threads that this worker holds. */
  get busy(): number {
    return this.#active.size;
  }

  async #claim(threadId: string, isUrgent: boolean): Promise<boolean> {
    const owner = this.#owner;
    const transcriptCache = this.#transcriptCache;
    const claimed = await claimNextCycle(this.#services, this.#registry, threadId, {
      owner,
      isUrgent,
      transcriptCache,
    });
    if (claimed === undefined) return false;
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const thread = createActiveThread(claimed, done);
    this.#active.set(threadId, thread);
    void this.#runThread(thread).finally(resolve);
    return true;
  }

  async #runThread(thread: ActiveThread): Promise<void> {
    const { threadId } = thread.lease;
    try {
      while (await this.#runNext(thread));
    } catch (error) {
      if (error instanceof LeaseLost) await this.#excuse(thread);
      else
        this.#services.logger.error(
          `Thread ${threadId} was given up after an error. It is claimed again when its lease has run out.`,
          error,
        );
    } finally {
      this.#active.delete(threadId);
      this.#admission.release();
    }
    if (thread.wokenAgain) await this.wake(threadId, { isUrgent: thread.isUrgent, hadTurn: true });
  }

  /** If the store is unavailable, the takeover counts. That only costs one of the run's attempts. */
  async #excuse({ runId }: ActiveThread): Promise<void> {
    if (runId !== undefined) await excuseTakeover(this.#services.store, runId).catch(() => {});
  }

  /** Returns true if there may be more to do. */
  async #runNext(thread: ActiveThread): Promise<boolean> {
    try {
      const { claimedCycle } = thread;
      thread.claimedCycle = undefined;
      if (claimedCycle === undefined && !this.#isStopping)
        await this.#admission.nextTurn(thread.lease.threadId, thread);
      if (this.#isStopping) {
        await giveUpThread(this.#services, thread.lease);
        return false;
      }
      const cycle = claimedCycle ?? (await this.#nextCycle(thread));
      if (cycle === undefined) return false;
      // Claimed while the worker was stopping: the run is left open, and the thread is released in the next round.
      if (this.#isInterrupted) return true;
      this.#transcriptCache.forget(thread.lease.threadId);
      const ended = await runOnThread(this.#services, this.#registry, thread, cycle);
      if (ended.transcript !== 'unknown') this.#transcriptCache.put({ lease: cycle.lease, rows: ended.transcript });
      if (ended.thread === 'held') return true;
      // Other threads get their turn before the next cycle of this thread.
      thread.wokenAgain ||= ended.waiting !== 'nothing';
      thread.isUrgent ||= ended.waiting === 'urgent';
      return false;
    } catch (error) {
      // The last write has ended, and may have released the thread.
      if (error instanceof JournalStalled) thread.isCommitUnknown = true;
      // The run continues from what is stored, or ends there if it was cancelled.
      if (keepsThread(error)) return true;
      if (!(error instanceof StoreUnavailable)) throw error;
      thread.isCommitUnknown ||= error.inDoubt;
      // The thread cannot be released now. Another worker takes it when its lease has run out.
      if (this.#isStopping) return false;
      // Nothing is lost: what was not written is done again once the store is back, if this worker still holds the
      // thread.
      await this.#pause();
      return true;
    }
  }

  async #nextCycle(thread: ActiveThread): Promise<Cycle | undefined> {
    const { leaseMs } = this.#services.limits;
    const reclaim = thread.isCommitUnknown ? { owner: this.#owner, leaseMs } : undefined;
    thread.wokenAgain = false;
    thread.isUrgent = false;
    try {
      const cycle = await nextCycle(this.#services, this.#registry, thread.lease, {
        transcriptCache: this.#transcriptCache,
        reclaim,
      });
      thread.isCommitUnknown = false;
      return cycle;
    } finally {
      this.#admission.started();
    }
  }

  async #renewLeases(): Promise<void> {
    if (this.#active.size === 0) return;
    const { store, limits } = this.#services;
    // The list is made before the renewal: a thread that is claimed in the meantime is not in the result, and must not
    // count as lost.
    const threads = [...this.#active.values()];
    const threadIds = threads.map(({ lease }) => lease.threadId);
    const held = await renewLeases(store, { owner: this.#owner, leaseMs: limits.leaseMs, threadIds });
    for (const { lease, abort } of threads)
      if (held.get(lease.threadId) !== lease.epoch) abort.abort(new LeaseLost(lease.threadId));
    await this.#checkCancelRequests(threads);
  }

  /** A cancel notice can get lost or arrive before there is a listener. The request is also in the run's row. */
  async #checkCancelRequests(threads: readonly ActiveThread[]): Promise<void> {
    const running = threads.flatMap((thread) => thread.running ?? []);
    const asked = await this.#services.store.transaction((tx) =>
      cancelRequested(
        tx.db,
        running.map(({ runId }) => runId),
      ),
    );
    for (const { runId, cancel } of running) if (asked.has(runId)) cancel();
  }

  async #pause(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    setTimeout(resolve, this.#services.limits.retryMs / 2);
    await promise;
  }
}
