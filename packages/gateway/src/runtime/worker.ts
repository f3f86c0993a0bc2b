import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { JournalStalled } from '@lastcall/core';
import { StaleTranscript } from '../domain/consciousness/stale-transcript.ts';
import { cancelRequested } from '../domain/runs/request-cancel.ts';
import { RunCancelled } from '../domain/runs/run-cancelled.ts';
import { runChannel } from '../domain/streams/emit.ts';
import type { Services } from '../ports/services.ts';
import { StoreUnavailable } from '../ports/store/store-error.ts';
import { inSpan } from '../telemetry/spans.ts';
import { atMost } from './at-most.ts';
import type { Cycle } from './cycle/cycle.ts';
import { CycleInterrupted } from './cycle/cycle-interrupted.ts';
import { nextCycle, takeThread } from './cycle/next-cycle.ts';
import type { Registry } from './cycle/registry.ts';
import { type CycleAbort, runCycle } from './cycle/run-cycle.ts';
import { StagedWriteRefused } from './cycle/staged-write-refused.ts';
import { TranscriptCache } from './cycle/transcript-cache.ts';
import { findSleepers } from './find-sleepers.ts';
import { Gate } from './gate.ts';
import { type Lease, LeaseLost, releaseThread, renewLeases } from './lease.ts';

/** A thread that this worker holds. */
interface Hold {
  readonly lease: Lease;
  /** What was found when it was taken, until it is thought about. */
  first: Cycle | undefined;
  /** Ends the cycle under way. */
  abort: AbortController;
  isCancelled: boolean;
  /** The run under way, if one is, and how to end it for whoever asked for that. */
  running: { readonly runId: string; readonly cancel: () => void } | undefined;
  /** It was woken while it was held: the holder looks again after it lets go. */
  again: boolean;
  /** Somebody waits for that. */
  isUrgent: boolean;
  /** It is not known whether its last transaction was made, and with it perhaps the thread let go. */
  isInDoubt: boolean;
  readonly done: Promise<void>;
}

/** A thread that is about to be taken. */
interface Waking {
  again: boolean;
  isUrgent: boolean;
  readonly done: Promise<void>;
}

/** What says nothing of the thread, which is still held. */
const GO_ON = [StagedWriteRefused, StaleTranscript, CycleInterrupted, RunCancelled, JournalStalled];

/**
 * What a stop gives the last writes of cycles that were interrupted. A database that neither answers nor breaks off must not keep
 * the process alive: whoever finds the leases run out takes over, as after a kill.
 */
const LAST_WRITES_MS = 5_000;

/**
 * Thinks for whichever threads are woken, one cycle at a time each, many threads side by side. Wakes may come twice or never: the
 * thread's row decides who holds it, and the sweep finds what sleeps although it has work.
 */
export class Worker {
  readonly #services: Services;
  readonly #registry: Registry;
  readonly #owner: string = `${hostname()}:${process.pid}:${randomUUID()}`;
  readonly #holds = new Map<string, Hold>();
  readonly #waking = new Map<string, Waking>();
  readonly #gate: Gate;
  readonly #transcriptCache = new TranscriptCache();
  readonly #timers: NodeJS.Timeout[] = [];
  #isStopping = false;
  /** The grace time is over: no cycle begins any more, also upon what was being taken meanwhile. */
  #isInterrupted = false;

  constructor(services: Services, registry: Registry) {
    this.#services = services;
    this.#registry = registry;
    const { store, limits } = services;
    this.#gate = new Gate({ places: limits.cycles, isBusy: () => store.isBusy });
  }

  /** What is swept is swept side by side: none of it waits for what takes long or fails, and least of all those who sleep. */
  async start({ sweeps }: { sweeps: readonly (() => Promise<unknown>)[] }): Promise<void> {
    const { leaseMs, sweepMs } = this.#services.limits;
    // Twice missed, a sign of life is still in time.
    this.#every(Math.floor(leaseMs / 3), () => this.#beat());
    for (const sweep of sweeps) this.#every(sweepMs, sweep);
    const wakeSleepers = this.#every(sweepMs, async () => {
      for (const threadId of await findSleepers(this.#services.store)) void this.wake(threadId);
    });
    await this.#services.engine.start(async (threadId, options) => {
      const woken = this.wake(threadId, options);
      // The sweep finds it if this gateway dies before its turn comes: the engine has others to deliver meanwhile.
      if (!this.#gate.isWaiting(threadId)) await woken;
    });
    // What a dead gateway left does not wait for the first sweep.
    await wakeSleepers();
  }

  /** Resolves once the thread is taken or left. `isUrgent`: somebody waits for it. */
  async wake(threadId: string, { isUrgent = false }: { isUrgent?: boolean } = {}): Promise<void> {
    const held = this.#holds.get(threadId) ?? this.#waking.get(threadId);
    if (held !== undefined) {
      held.again = true;
      held.isUrgent ||= isUrgent;
      if (isUrgent) this.#gate.hurry(threadId);
    }
    if (held !== undefined || this.#isStopping) return;
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const waking: Waking = { again: false, isUrgent, done };
    this.#waking.set(threadId, waking);
    await this.#tryTake(threadId, waking);
    this.#waking.delete(threadId);
    resolve();
    const taken = this.#holds.get(threadId);
    if (!waking.again) return;
    // What it was woken for meanwhile may be newer than what was looked at.
    if (taken === undefined) await this.wake(threadId, waking);
    else {
      taken.again = true;
      taken.isUrgent ||= waking.isUrgent;
    }
  }

  async #tryTake(threadId: string, waking: Waking): Promise<void> {
    await this.#gate.enter(threadId, waking);
    try {
      const { isUrgent } = waking;
      waking.again = false;
      // From here on somebody else waits for it.
      waking.isUrgent = false;
      if (this.#isStopping || !(await this.#take(threadId, isUrgent))) this.#gate.leave();
    } catch (error) {
      this.#gate.leave();
      if (!(error instanceof StoreUnavailable))
        this.#services.logger.error(`Thread ${threadId} could not be taken.`, error);
    }
  }

  /** Takes no more, lets cycles finish in the grace time, and leaves the rest to be taken up by others. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const timer of this.#timers.slice(1)) clearInterval(timer);
    await this.#services.engine.stop();
    this.#gate.open();
    const all = Promise.allSettled([...this.#holds.values()].map(({ done }) => done));
    await atMost(this.#services.limits.graceMs, all);
    this.#isInterrupted = true;
    for (const { abort } of this.#holds.values()) abort.abort(new CycleInterrupted());
    await atMost(LAST_WRITES_MS, this.#letGo());
    for (const one of this.#timers) clearInterval(one);
  }

  async #letGo(): Promise<void> {
    await Promise.allSettled([...this.#holds.values()].map(({ done }) => done));
    // Those that were about to be taken when the stop came are let go too: others need not wait for their leases.
    await Promise.allSettled([...this.#waking.values()].map(({ done }) => done));
    await Promise.allSettled([...this.#holds.values()].map(({ done }) => done));
  }

  /** Cycles under way. */
  get busy(): number {
    return this.#holds.size;
  }

  async #take(threadId: string, isUrgent: boolean): Promise<boolean> {
    const owner = this.#owner;
    const transcriptCache = this.#transcriptCache;
    const taken = await takeThread(this.#services, this.#registry, threadId, { owner, isUrgent, transcriptCache });
    if (taken === undefined) return false;
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const hold: Hold = {
      lease: taken.lease,
      first: taken.cycle,
      abort: new AbortController(),
      isCancelled: false,
      running: undefined,
      again: false,
      isUrgent: false,
      isInDoubt: false,
      done,
    };
    this.#holds.set(threadId, hold);
    void this.#hold(hold).finally(resolve);
    return true;
  }

  async #hold(hold: Hold): Promise<void> {
    const { threadId } = hold.lease;
    try {
      while (await this.#next(hold));
    } catch (error) {
      if (!(error instanceof LeaseLost))
        this.#services.logger.error(
          `Thread ${threadId} was given up: it is taken again when its lease has run out.`,
          error,
        );
    } finally {
      this.#holds.delete(threadId);
      this.#gate.leave();
    }
    if (hold.again) await this.wake(threadId, hold);
  }

  /** Whether there may be more to do. */
  async #next(hold: Hold): Promise<boolean> {
    try {
      const { first } = hold;
      hold.first = undefined;
      if (first === undefined && !this.#isStopping) await this.#gate.goOn(hold.lease.threadId, hold);
      if (this.#isStopping) {
        await releaseThread(this.#services, hold.lease);
        return false;
      }
      if (first === undefined) {
        hold.again = false;
        hold.isUrgent = false;
      }
      const cycle = first ?? (await this.#nextCycle(hold));
      if (cycle === undefined) return false;
      // Taken while it was being stopped: the run is left as it is, and the thread is let go the next time round.
      if (this.#isInterrupted) return true;
      this.#transcriptCache.forget(hold.lease.threadId);
      await this.#runCycle(hold, cycle);
      if (cycle.endPersisted) this.#transcriptCache.keep(cycle);
      return !cycle.leaseReleased;
    } catch (error) {
      // Its last write has ended by now, and may have let the thread go.
      if (error instanceof JournalStalled) hold.isInDoubt = true;
      // The run goes on from what the store has, or ends there if it was cancelled.
      if (GO_ON.some((kind) => error instanceof kind)) return true;
      if (!(error instanceof StoreUnavailable)) throw error;
      hold.isInDoubt ||= error.inDoubt;
      // The thread cannot be let go now: whoever finds its lease run out takes it.
      if (this.#isStopping) return false;
      // Nothing is lost: what was not written is done again, once the store is back and if the thread is still ours.
      await this.#pause();
      return true;
    }
  }

  async #nextCycle(hold: Hold): Promise<Cycle | undefined> {
    const { leaseMs } = this.#services.limits;
    const regain = hold.isInDoubt ? { owner: this.#owner, leaseMs } : undefined;
    const cycle = await nextCycle(this.#services, this.#registry, hold.lease, {
      transcriptCache: this.#transcriptCache,
      regain,
    });
    hold.isInDoubt = false;
    return cycle;
  }

  async #runCycle(hold: Hold, cycle: Cycle): Promise<void> {
    const controller = new AbortController();
    hold.abort = controller;
    hold.isCancelled = cycle.isCancelRequested;
    const cancel = (): void => {
      hold.isCancelled = true;
      controller.abort(new Error('The run was cancelled.'));
    };
    if (hold.isCancelled) cancel();
    hold.running = { runId: cycle.runId, cancel };
    const unsubscribe = this.#services.bus.subscribe(runChannel(cycle.runId), ({ event }) => {
      if (event?.type === 'run.cancelling') cancel();
    });
    try {
      const abort: CycleAbort = {
        signal: controller.signal,
        isCancelled: () => hold.isCancelled,
        interrupt: (reason) => controller.abort(reason),
      };
      const attributes = { 'gen_ai.agent.id': cycle.agent.id, 'gen_ai.agent.name': cycle.agent.name };
      await inSpan({ operation: 'invoke_agent', of: cycle.agent.name, attributes }, () =>
        runCycle(this.#services, this.#registry, cycle, abort),
      );
    } finally {
      hold.running = undefined;
      unsubscribe();
    }
  }

  async #beat(): Promise<void> {
    if (this.#holds.size === 0) return;
    const { store, limits } = this.#services;
    // Those of now: a thread that is taken while this is written is not among what it gives.
    const holds = [...this.#holds.values()];
    const threadIds = holds.map(({ lease }) => lease.threadId);
    const held = await renewLeases(store, { owner: this.#owner, leaseMs: limits.leaseMs, threadIds });
    for (const { lease, abort } of holds)
      if (held.get(lease.threadId) !== lease.epoch) abort.abort(new LeaseLost(lease.threadId));
    await this.#lookForCancels(holds);
  }

  /** Notices get lost, or come before anybody listens: that somebody asked for a run's end is in its row too. */
  async #lookForCancels(holds: readonly Hold[]): Promise<void> {
    const running = holds.flatMap((hold) => hold.running ?? []);
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

  /** Never twice at once, and never the end of the process. Gives what does it once more, at once. */
  #every(ms: number, work: () => Promise<unknown>): () => Promise<void> {
    let isRunning = false;
    const tick = async (): Promise<void> => {
      if (isRunning) return;
      isRunning = true;
      try {
        await work();
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) this.#services.logger.error('Work of the background failed.', error);
      } finally {
        isRunning = false;
      }
    };
    this.#timers.push(setInterval(() => void tick(), ms));
    return tick;
  }
}
