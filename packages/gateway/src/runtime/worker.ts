import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Services } from '../ports/services.ts';
import { StoreUnavailable } from '../ports/store/store-error.ts';
import { type ActiveThread, interruptRun } from './active-thread.ts';
import { BackgroundTasks } from './background-tasks.ts';
import { endDamagedEvents } from './claim/end-damaged-events.ts';
import { excuseTakeover } from './claim/excuse-takeover.ts';
import { giveUpThread } from './claim/give-up-thread.ts';
import { claimNextRun, type NextRunOptions, type TakenRun } from './claim/next-run.ts';
import { TranscriptCache } from './claim/transcript-cache.ts';
import { findRunnableThreads } from './find-runnable-threads.ts';
import { LeaseLost } from './lease/lease.ts';
import { RunInterrupted } from './loops/run-interrupted.ts';
import { renewThreads } from './renew-threads.ts';
import type { ActiveRun } from './run/active-run.ts';
import { runThread, type ThreadHost } from './run-thread.ts';
import type { ClaimOptions, Scheduler } from './scheduler.ts';
import { lastRunOf, type WorkerPhase } from './thread-state.ts';
import { atMost } from './tools/at-most.ts';
import type { Registry } from './toolset/registry.ts';
import { ToolCaches } from './toolset/tool-caches.ts';

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
 * Performs the runs of threads that are woken: one run at a time per thread, many threads in parallel. The scheduler
 * decides which thread goes next. The worker claims it, renews its lease, and finds threads whose wake was lost.
 */
export class Worker {
  readonly #services: Services;
  readonly #owner: string = `${hostname()}:${process.pid}:${randomUUID()}`;
  /** The threads that the worker holds. */
  readonly #active = new Set<ActiveThread>();
  readonly #scheduler: Scheduler;
  readonly #host: ThreadHost;
  /** Runs until the last thread is released. */
  readonly #renewals: BackgroundTasks;
  readonly #sweeps: BackgroundTasks;
  /** How many sweeps in a row found the worker overloaded. */
  #overloadedSweeps = 0;
  #phase: WorkerPhase = 'running';

  constructor(services: Services, registry: Registry, scheduler: Scheduler) {
    this.#services = services;
    this.#scheduler = scheduler;
    this.#renewals = new BackgroundTasks(services.logger);
    this.#sweeps = new BackgroundTasks(services.logger);
    this.#host = {
      services,
      registry: { ...registry, toolCaches: new ToolCaches() },
      owner: this.#owner,
      scheduler,
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
    const { store, limits } = this.#services;
    const { leaseMs, sweepMs } = limits;
    // Two renewals may be missed before the lease runs out.
    this.#renewals.repeat(Math.floor(leaseMs / 3), () => this.#renewThreads());
    for (const sweep of sweeps) this.#sweeps.repeat(sweepMs, sweep);
    const wakeRunnable = this.#sweeps.repeat(sweepMs, async () => {
      const waitedMs = this.#lostAfterMs();
      for (const { threadId, ...found } of await findRunnableThreads(store, { waitedMs }))
        this.#scheduler.enqueueFound(threadId, found);
    });
    this.#scheduler.start({
      startsAtOnce: store.claimsAtOnce,
      isBusy: () => store.isBusy,
      claim: (threadId, options) => this.#claim(threadId, options),
    });
    // Threads that a dead gateway left should not wait for the first sweep.
    await wakeRunnable();
  }

  /**
   * How long an event must have waited until this sweep treats its wake as lost. Undefined if this sweep looks for
   * none.
   */
  #lostAfterMs(): number | undefined {
    this.#overloadedSweeps = this.#scheduler.hasWaiting ? this.#overloadedSweeps + 1 : 0;
    if (this.#overloadedSweeps === 0) return 0;
    return this.#overloadedSweeps % OVERLOADED_SWEEPS === 0
      ? OVERLOADED_SWEEPS * this.#services.limits.sweepMs
      : undefined;
  }

  /** Claims no more threads, lets runs finish in the grace time, and leaves the rest to other workers. */
  async stop(): Promise<void> {
    this.#phase = 'stopping';
    this.#sweeps.stop();
    // Threads that were being claimed when the stop came are released too, so that other workers need not wait for
    // their leases to run out.
    const allReleased = this.#scheduler.stop();
    await atMost(this.#services.limits.graceMs, allReleased);
    this.#phase = 'interrupted';
    for (const thread of this.#active) interruptRun(thread, new RunInterrupted());
    await atMost(LAST_WRITES_MS, allReleased);
    this.#renewals.stop();
  }

  /** The number of threads that this worker holds. */
  get busy(): number {
    return this.#active.size;
  }

  /** Claims the thread. Returns the work on it, or undefined if there is none. */
  async #claim(threadId: string, options: ClaimOptions): Promise<(() => Promise<void>) | undefined> {
    const { registry, owner, transcriptCache } = this.#host;
    try {
      const whileTaken: NextRunOptions['whileTaken'] = (taken, read) => this.#whileTaken(taken, read);
      const claimant = { owner, transcriptCache, whileTaken, ...options };
      const claimed = await claimNextRun(this.#services, registry, threadId, claimant);
      if (claimed === undefined) return undefined;
      const thread: ActiveThread = { lease: claimed.lease, state: { kind: 'claimed', run: claimed.run } };
      this.#active.add(thread);
      return () => this.#runThread(thread);
    } catch (error) {
      if (error instanceof StoreUnavailable) return undefined;
      this.#services.logger.error(`Thread ${threadId} could not be claimed.`, error);
      // If this fails too, the next sweep claims the thread again.
      await endDamagedEvents(this.#services, threadId).catch(() => {});
      return undefined;
    }
  }

  /** Holds a thread whose run was taken over, so that its lease is renewed while the run is read. */
  async #whileTaken(
    { lease, runId }: TakenRun,
    read: () => Promise<ActiveRun | undefined>,
  ): Promise<ActiveRun | undefined> {
    if (this.#phase !== 'running') {
      await giveUpThread(this.#services, lease);
      return undefined;
    }
    const thread: ActiveThread = { lease, state: { kind: 'taken', runId } };
    this.#active.add(thread);
    try {
      return await read();
    } finally {
      this.#active.delete(thread);
    }
  }

  async #runThread(thread: ActiveThread): Promise<void> {
    try {
      await runThread(this.#host, thread);
    } catch (error) {
      if (error instanceof LeaseLost) await this.#excuse(thread);
      else
        this.#services.logger.error(
          `Thread ${thread.lease.threadId} was given up after an error. It is claimed again when its lease has run out.`,
          error,
        );
    } finally {
      this.#active.delete(thread);
    }
  }

  /** If the store is unavailable, the takeover counts. That only costs one of the run's attempts. */
  async #excuse({ state }: ActiveThread): Promise<void> {
    await excuseTakeover(this.#services.store, lastRunOf(state)).catch(() => {});
  }

  async #renewThreads(): Promise<void> {
    // A thread that is claimed while the leases are renewed is not in the list, and must not count as lost.
    await renewThreads(this.#services, this.#owner, [...this.#active]);
  }
}
