import { type Clock, type Entry, type Journal, JournalStalled, type Staged, type StartedCall } from '@lastcall/core';
import { deferred, settlesWithin, systemClock } from '@lastcall/core/internal';
import { MachineError } from '../errors.ts';
import type { Origin, TreeEntry } from '../tree/log.ts';
import { toMachineJson } from '../tree/machine-json.ts';
import type { MachineStaged, RecordedEntry, ThreadEntry } from '../tree/machine-record.ts';
import { Plan, type Planned } from './plan.ts';
import type { Turnstile } from './turnstile.ts';

/** The parts of a machine that writing to a journal needs. */
export interface Recorded extends Planned {
  readonly writes: Turnstile;
  readonly unrecorded: RecordedEntry[];
  recorder: Recorder | undefined;
  isRecorded: boolean;
  doubt: unknown;
}

type EndEntry = Parameters<Journal['settle']>[0];
type StartedEntry = Parameters<NonNullable<Journal['start']>>[0];

interface Limits {
  readonly signal?: AbortSignal | undefined;
  readonly deadline?: number | undefined;
  readonly clock?: Clock | undefined;
}

/** Which instance acts, and on which conversation. */
export interface Acting extends Origin {
  readonly thread: string;
}

/**
 * Writes a machine to a journal. What has been accepted counts; what the journal refuses never happened. Writes that
 * change the tree come one after another, so that the records have the order in which it changed.
 */
export class Recorder {
  readonly #machine: Recorded;
  readonly #journal: Journal;
  readonly #limits: Limits;
  #refusal: { readonly error: unknown } | undefined;

  constructor(machine: Recorded, journal: Journal, limits: Limits) {
    this.#machine = machine;
    this.#journal = journal;
    this.#limits = limits;
  }

  /** The first error with which the journal refused a write. */
  get refusal(): { readonly error: unknown } | undefined {
    return this.#refusal;
  }

  get hasStart(): boolean {
    return this.#journal.start !== undefined;
  }

  /** Another recorder for the same journal: what the journal refuses it does not concern this one. */
  apart(): Recorder {
    return new Recorder(this.#machine, this.#journal, this.#limits);
  }

  /** Changes of the machine between the steps of its leaves. */
  async record<T>(make: (plan: Plan) => T): Promise<T> {
    const leave = await this.#machine.writes.enter();
    const plan = new Plan(this.#machine);
    try {
      const made = make(plan);
      await this.#append(plan.toEntries());
      plan.carryOut();
      return made;
    } catch (error) {
      plan.giveUp();
      throw error;
    } finally {
      leave();
    }
  }

  /** Writes what changed since the last write, if anything did. */
  async flush(): Promise<void> {
    const { isRecorded, unrecorded } = this.#machine;
    if (!isRecorded || unrecorded.length > 0) await this.record(() => {});
  }

  /** The end of a turn is kept until the end of its step is written. */
  append(entries: readonly Entry[], acting: Acting): void | Promise<void> {
    const thread = this.#machine.threadNamed(acting.thread);
    const [entry] = entries;
    if (entries.length === 1 && entry?.kind === 'stop' && thread.ending === undefined) {
      thread.ending = entry;
      return undefined;
    }
    const [first, ...others] = thread.ending === undefined ? entries : [thread.ending, ...entries];
    if (first === undefined) return undefined;
    const written = this.#asFirst(first, acting, (one) =>
      this.#journal.append([one, ...others.map((other) => ({ ...other, ...acting }))]),
    );
    const done = (): void => {
      thread.ending = undefined;
    };
    if (written !== undefined) return written.then(done);
    done();
    return undefined;
  }

  start(entry: StartedEntry, call: StartedCall, acting: Acting): void | Promise<void> {
    return this.#asFirst(entry, acting, (one) => this.#journal.start?.(one, call));
  }

  settle(entry: EndEntry, staged: Staged, acting: Acting): void | Promise<void> {
    return this.#asFirst(entry, acting, (one) => this.#journal.settle(one, staged));
  }

  /** The end of a call that changed the tree: both are one write. */
  async settleWith(
    end: { readonly entry: EndEntry; readonly staged: Staged; readonly acting: Acting },
    make: (plan: Plan) => void,
    underway: TreeEntry[],
  ): Promise<void> {
    const leave = await this.#machine.writes.enter();
    const plan = new Plan(this.#machine);
    try {
      make(plan);
      const staged: MachineStaged = plan.isEmpty ? end.staged : { ...end.staged, machine: plan.toEntries() };
      await this.settle(end.entry, staged, end.acting);
      plan.carryOut(underway);
    } catch (error) {
      plan.giveUp();
      throw error;
    } finally {
      leave();
    }
  }

  /** The journal did not say in time whether it stored a write of a leaf. */
  stalled(error: unknown): void {
    this.#refusal ??= { error };
    this.#machine.doubt = error;
  }

  async #append(entries: readonly RecordedEntry[]): Promise<void> {
    const machine = this.#machine;
    const wasRecorded = machine.isRecorded;
    const first: readonly RecordedEntry[] = wasRecorded
      ? machine.unrecorded.slice()
      : [{ kind: 'machine', change: { kind: 'created', machine: toMachineJson(machine, 'keep') } }];
    const all = [...first, ...entries];
    if (all.length === 0) return;
    // From here on the changes that come in meanwhile are collected for the next write.
    machine.isRecorded = true;
    try {
      const written = this.#accepted(() => this.#journal.append(all as readonly Entry[]));
      if (written !== undefined) await this.#inTime(written);
    } catch (error) {
      machine.isRecorded = wasRecorded;
      // The next write stores the whole machine, and these changes with it.
      if (!wasRecorded) machine.unrecorded.length = 0;
      throw error;
    }
    machine.unrecorded.splice(0, wasRecorded ? first.length : 0);
  }

  /** Writes an entry of a conversation. If it is the first of its turn, it says that it begins one. */
  #asFirst<E extends Entry>(
    entry: E,
    acting: Acting,
    write: (recorded: E & Acting) => unknown,
  ): undefined | Promise<void> {
    const thread = this.#machine.threadNamed(acting.thread);
    const { beginning } = thread;
    if (beginning === undefined) return this.#accepted(() => write({ ...entry, ...acting }));
    // Taken at once: calls that end side by side must not all begin the turn.
    thread.beginning = undefined;
    const refused = (error: unknown): never => {
      thread.beginning ??= beginning;
      throw error;
    };
    try {
      return this.#accepted(() => write({ ...entry, ...acting, ...BEGINS }))?.catch(refused);
    } catch (error) {
      return refused(error);
    }
  }

  /** Only a promise is awaited, whatever else a journal returns. */
  #accepted(write: () => unknown): undefined | Promise<void> {
    const refuse = (error: unknown): never => {
      this.#refusal ??= { error };
      throw error;
    };
    try {
      const written = write();
      return isPromise(written) ? Promise.resolve(written).then(() => {}, refuse) : undefined;
    } catch (error) {
      return refuse(error);
    }
  }

  /** Waits for a write until the deadline or an abort, and a moment longer, as core does for the writes of turns. */
  async #inTime(writing: Promise<void>): Promise<void> {
    const { signal, deadline, clock = systemClock } = this.#limits;
    if (signal === undefined && deadline === undefined) {
      await writing;
      return;
    }
    const limit = deferred<false>();
    const stop = new AbortController();
    const hit = (): void => limit.resolve(false);
    signal?.addEventListener('abort', hit, { once: true });
    if (signal?.aborted === true) hit();
    if (deadline !== undefined) void clock.sleep(Math.max(0, deadline - clock.now()), stop.signal).then(hit, hit);
    try {
      if (await Promise.race([writing.then(() => true), limit.promise])) return;
    } finally {
      stop.abort();
      signal?.removeEventListener('abort', hit);
    }
    if (await settlesWithin(clock, GRACE_MS, writing)) return;
    const error = new JournalStalled('a change of the machine');
    this.stalled(error);
    throw error;
  }
}

const BEGINS: Pick<ThreadEntry, 'begins'> = Object.freeze({ begins: true });

// Far above what a write takes that is in progress when the deadline passes.
const GRACE_MS = 1_000;

/** Refuses to continue a machine that may differ from its records. */
export function assertCertain({ doubt }: Pick<Recorded, 'doubt'>): void {
  if (doubt === undefined) return;
  throw new MachineError(
    'machine',
    'It is not known what the journal has stored of this machine. Continue with machineFromRecords().',
    { cause: doubt },
  );
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
