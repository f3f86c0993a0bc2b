import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Services } from '../ports/services.ts';
import { StoreUnavailable } from '../ports/store/store-error.ts';
import { type ActiveThread, createActiveThread, interruptRun } from './active-thread.ts';
import { AdmissionQueue, type Wait } from './admission-queue.ts';
import { BackgroundTasks } from './background-tasks.ts';
import { excuseTakeover } from './claim/excuse-takeover.ts';
import { claimNextRun } from './claim/next-run.ts';
import { TranscriptCache } from './claim/transcript-cache.ts';
import { findRunnableThreads, type RunnableThread } from './find-runnable-threads.ts';
import { LeaseLost } from './lease/lease.ts';
import { RunInterrupted } from './loops/run-interrupted.ts';
import { addWake, makeUrgent, type OpenWake, toWake } from './open-wake.ts';
import { renewThreads } from './renew-threads.ts';
import { runThread, type ThreadHost } from './run-thread.ts';
import { lastRunOf, type WorkerPhase } from './thread-state.ts';
import { atMost } from './tools/at-most.ts';
import type { Registry } from './toolset/registry.ts';
import { ToolCaches } from './toolset/tool-caches.ts';

/** A thread that is about to be claimed. */
interface PendingWake {
  /** `none` while the thread is being claimed, unless it is woken again meanwhile. */
  wake: OpenWake;
  readonly hadTurn: boolean;
  readonly done: Promise<void>;
}

/**
 * How long a stop waits for the last writes of interrupted runs. A database that neither answers nor closes the
 * connection must not keep the process alive: another worker takes over when the leases have run out, as after a kill.
 */
const LAST_WRITES_MS = 5_000;

/**
 * An overloaded worker looks for lost wakes only once in this many sweeps, and only for events that have waited that
 * long: most wakes are not lost but queued at another worker, and a worker that takes such a thread has to read its
 * transcript again.
 */
const OVERLOADED_SWEEPS = 5;

/**
 * Does the runs of threads that are woken: one run at a time per thread, many threads in parallel. A wake may come
 * twice or get lost: the thread's row decides which worker holds it, and the sweep finds threads whose wake was lost.
 */
export class Worker {
  readonly #services: Services;
  readonly #owner: string = `${hostname()}:${process.pid}:${randomUUID()}`;
  readonly #active = new Map<string, ActiveThread>();
  readonly #pendingWakes = new Map<string, PendingWake>();
  readonly #admission: AdmissionQueue;
  readonly #host: ThreadHost;
  /** Runs until the last thread is released. */
  readonly #renewals: BackgroundTasks;
  readonly #sweeps: BackgroundTasks;
  /** How many sweeps in a row found the worker overloaded. */
  #overloadedSweeps = 0;
  #phase: WorkerPhase = 'running';

  constructor(services: Services, registry: Registry) {
    this.#services = services;
    const { store, limits, logger } = services;
    this.#renewals = new BackgroundTasks(logger);
    this.#sweeps = new BackgroundTasks(logger);
    this.#admission = new AdmissionQueue({
      slots: limits.runs,
      startsAtOnce: store.claimsAtOnce,
      isBusy: () => store.isBusy,
    });
    this.#host = {
      services,
      registry: { ...registry, toolCaches: new ToolCaches() },
      owner: this.#owner,
      admission: this.#admission,
      transcriptCache: new TranscriptCache(),
      phase: () => this.#phase,
    };
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
    this.#renewals.repeat(Math.floor(leaseMs / 3), () => this.#renewThreads());
    for (const sweep of sweeps) this.#sweeps.repeat(sweepMs, sweep);
    const wakeRunnable = this.#sweeps.repeat(sweepMs, async () => {
      const waitedMs = this.#lostAfterMs();
      const found = await findRunnableThreads(this.#services.store, { waitedMs });
      for (const thread of found) this.#wakeRunnable(thread);
    });
    await this.#services.engine.start((threadId, options) => this.wake(threadId, options));
    // Threads that a dead gateway left should not wait for the first sweep.
    await wakeRunnable();
  }

  /** The worker that is about to claim the thread, or holds it, finds the same work as the sweep. */
  #wakeRunnable({ threadId, isUrgent }: RunnableThread): void {
    const pendingWake = this.#pendingWakes.get(threadId);
    if (pendingWake === undefined) {
      if (!this.#active.has(threadId)) void this.wake(threadId, { isUrgent });
      return;
    }
    if (!isUrgent) return;
    pendingWake.wake = makeUrgent(pendingWake.wake);
    this.#admission.prioritize(threadId);
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
      known.wake = addWake(known.wake, toWake(isUrgent));
      if (isUrgent) this.#admission.prioritize(threadId);
    }
    if (known !== undefined || this.#phase !== 'running') return;
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const pendingWake: PendingWake = { wake: toWake(isUrgent), hadTurn, done };
    this.#pendingWakes.set(threadId, pendingWake);
    await this.#claimWhenAdmitted(threadId, pendingWake);
    this.#pendingWakes.delete(threadId);
    resolve();
    const { wake } = pendingWake;
    if (wake === 'none') return;
    const claimed = this.#active.get(threadId);
    // The wake may be for something newer than what the claim has read.
    if (claimed === undefined) await this.wake(threadId, { isUrgent: wake === 'urgent', hadTurn });
    else claimed.wake = addWake(claimed.wake, wake);
  }

  async #claimWhenAdmitted(threadId: string, pendingWake: PendingWake): Promise<void> {
    const { wake, hadTurn } = pendingWake;
    await this.#admission.acquire(threadId, { isUrgent: wake === 'urgent', hadTurn });
    try {
      const isUrgent = pendingWake.wake === 'urgent';
      // The claim reads the events of all wakes until now.
      pendingWake.wake = 'none';
      if (this.#phase !== 'running' || !(await this.#claim(threadId, isUrgent))) this.#admission.release();
    } catch (error) {
      this.#admission.release();
      if (!(error instanceof StoreUnavailable))
        this.#services.logger.error(`Thread ${threadId} could not be claimed.`, error);
    } finally {
      this.#admission.started();
    }
  }

  /** Claims no more threads, lets runs finish in the grace time, and leaves the rest to other workers. */
  async stop(): Promise<void> {
    this.#phase = 'stopping';
    this.#sweeps.stop();
    await this.#services.engine.stop();
    this.#admission.admitAll();
    const all = Promise.allSettled([...this.#active.values()].map(({ done }) => done));
    await atMost(this.#services.limits.graceMs, all);
    this.#phase = 'interrupted';
    for (const thread of this.#active.values()) interruptRun(thread, new RunInterrupted());
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
    const { registry, owner, transcriptCache } = this.#host;
    const claimant = { owner, isUrgent, transcriptCache };
    const claimed = await claimNextRun(this.#services, registry, threadId, claimant);
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
      await runThread(this.#host, thread);
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
    const { wake } = thread;
    if (wake !== 'none') await this.wake(threadId, { isUrgent: wake === 'urgent', hadTurn: true });
  }

  /** If the store is unavailable, the takeover counts. That only costs one of the run's attempts. */
  async #excuse({ state }: ActiveThread): Promise<void> {
    const runId = lastRunOf(state);
    if (runId !== undefined) await excuseTakeover(this.#services.store, runId).catch(() => {});
  }

  async #renewThreads(): Promise<void> {
    // A thread that is claimed while the leases are renewed is not in the list, and must not count as lost.
    await renewThreads(this.#services, this.#owner, [...this.#active.values()]);
  }
}
