import type { Answer } from '@lastcall/core';
import type { CompiledCharter } from '../charter/charter.ts';
import { firstFew } from '../charter/first-few.ts';
import { MachineError } from '../errors.ts';
import { LeafIndex } from '../tree/leaf-index.ts';
import { Ledger } from '../tree/ledger.ts';
import { Log, type MachineEntry, type Origin, type TreeEntry, toEntries } from '../tree/log.ts';
import type { RecordedEntry } from '../tree/machine-record.ts';
import { type MachineMessage, toQueued } from '../tree/message.ts';
import { findSuspension, listSuspensions, type Suspension, toAnswer } from '../tree/suspension.ts';
import { MAIN, type SessionOptions, Thread } from '../tree/thread.ts';
import { findInstance, type Instance, type Tree } from '../tree/tree.ts';
import type { TreeEvent } from '../tree/tree-event.ts';
import type { CommandOptions } from './command-options.ts';
import type { Machine } from './machine.ts';
import { Plan } from './plan.ts';
import type { Recorder } from './recorder.ts';
import { runCommand } from './run-command.ts';
import { Turnstile } from './turnstile.ts';

export interface LiveParts {
  readonly charter: CompiledCharter;
  readonly tree: Tree;
  readonly sessionOptions: (instanceId: string) => SessionOptions;
  readonly threads?: ReadonlyMap<string, Thread>;
  readonly log?: Log;
  /** Changes of leaves whose step is not over, by thread. */
  readonly underway?: ReadonlyMap<string, readonly TreeEntry[]>;
  /** True if records of a journal hold all of it. */
  readonly isRecorded?: boolean;
}

/** A machine at run time: the immutable tree, the conversations, and the running leaves and commands. */
export class LiveMachine implements Machine {
  readonly charter: CompiledCharter;
  readonly threads: Map<string, Thread>;
  readonly log: Log;
  readonly index: LeafIndex;
  readonly ledger: Ledger = new Ledger();
  /** Admits one run at a time. */
  readonly runs: Turnstile = new Turnstile();
  readonly commands: Turnstile = new Turnstile();
  /** Held while leaves run. */
  readonly steps: Turnstile = new Turnstile();
  /** The changes of the running leaves so far, by thread. They enter the log in tree order, when all leaves have ended. */
  readonly underway: Map<string, TreeEntry[]>;
  /** Threads that were stored in the middle of a step. */
  readonly leftovers: Set<Thread>;
  /** One write at a time changes the tree, so that the records have the order in which it changed. */
  readonly writes: Turnstile = new Turnstile();
  /** Writes to the journal of the current run. */
  recorder: Recorder | undefined;
  /** True if records of a journal hold all of it, except for what is in `unrecorded`. */
  isRecorded: boolean;
  /** What changed since the last write to the journal. */
  readonly unrecorded: RecordedEntry[] = [];
  /** Set if a journal did not say whether it stored a write: the machine in memory may differ from its records. */
  doubt: unknown;
  /** The threads that were used since the machine was made or continued. Most threads of a large tree only wait. */
  readonly #used = new Set<string>();
  #sessionOptions: LiveParts['sessionOptions'];
  #tree: Tree;
  /** Computed on demand and cached until it changes: most steps do not change it. */
  #suspended: readonly Suspension[] | undefined;

  constructor({ charter, tree, sessionOptions, threads, log, underway, isRecorded }: LiveParts) {
    this.charter = charter;
    this.threads = new Map(threads);
    this.log = log ?? new Log();
    this.index = new LeafIndex(tree);
    this.leftovers = new Set([...this.threads.values()].filter(({ inFlight }) => inFlight));
    this.underway = new Map([...(underway ?? [])].map(([id, entries]) => [id, [...entries]]));
    this.isRecorded = isRecorded ?? false;
    this.#sessionOptions = sessionOptions;
    this.#tree = tree;
  }

  static of(machine: Machine): LiveMachine {
    if (machine instanceof LiveMachine) return machine;
    throw new MachineError(
      'machine',
      'Expected a machine from createMachine(), deserializeMachine() or machineFromRecords().',
    );
  }

  get tree(): Tree {
    return this.#tree;
  }

  get history(): readonly MachineEntry[] {
    return toEntries(this.log.items, this.threads);
  }

  get suspended(): readonly Suspension[] {
    this.#suspended ??= listSuspensions(this.#tree, this.index);
    return this.#suspended;
  }

  get primary(): Instance | undefined {
    const speaker = findInstance(this.#tree, this.#tree.speaker);
    return speaker?.children.length === 0 ? speaker : undefined;
  }

  instance(id: string): Instance | undefined {
    return findInstance(this.#tree, id);
  }

  enqueue(message: MachineMessage): void {
    const event: TreeEvent = { kind: 'queued', message: toQueued(message) };
    this.#recordLater((plan) => plan.apply(event));
  }

  command(name: string, input: unknown = {}, options?: CommandOptions): Promise<unknown> {
    const running = runCommand(this, name, input, options ?? {});
    // Handled here too, so that a caller who does not await it causes no unhandled rejection.
    running.catch(() => {});
    return running;
  }

  resume(suspendId: string, payload?: unknown): void {
    const waiting = findSuspension(this.#tree, this.index, suspendId);
    if (waiting === undefined) throw unknownSuspension(suspendId, this.suspended);
    this.#answer(waiting, toAnswer(waiting, payload));
  }

  answer(callId: string, answer: Answer): boolean {
    const waiting = findSuspension(this.#tree, this.index, callId);
    if (waiting === undefined || waiting.callId !== callId) return false;
    this.#answer(waiting, answer);
    return true;
  }

  async dispose(): Promise<void> {
    await Promise.all(this.usedThreads.map((thread) => thread.dispose()));
  }

  /** The threads that were used since the machine was made or continued. */
  get usedThreads(): readonly Thread[] {
    return [...this.#used].flatMap((name) => this.threads.get(name) ?? []);
  }

  /** Begins another run with the same tree: these threads replace those that were used. */
  continueWith(threads: readonly Thread[], sessionOptions: LiveParts['sessionOptions']): void {
    for (const thread of threads) this.threads.set(thread.id, thread);
    this.#used.clear();
    this.#sessionOptions = sessionOptions;
  }

  #answer({ instanceId, node, callId }: Suspension, answer: Answer): void {
    this.#recordLater((plan) => {
      plan.apply({ kind: 'answered', id: instanceId, callId, answer });
      plan.note({ kind: 'resumed', instanceId, node, callId });
    });
  }

  /** The thread of an instance: the conversation with the user, or a worker's own thread. */
  threadOf({ id, worker }: Pick<Instance, 'id' | 'worker'>): Thread {
    return this.threadNamed(worker ? id : MAIN);
  }

  /** The thread with that name. */
  threadNamed(name: string): Thread {
    this.#used.add(name);
    const sessionOptions = (): SessionOptions => this.#sessionOptions(name);
    const known = this.threads.get(name);
    if (known === undefined) {
      const made = new Thread({ id: name, sessionOptions });
      this.threads.set(name, made);
      return made;
    }
    known.sessionOptions = sessionOptions;
    return known;
  }

  adopt(tree: Tree, events: readonly TreeEvent[], touched: ReadonlySet<string>): void {
    this.#tree = tree;
    this.index.update(tree, touched);
    if (events.some(({ kind }) => !LEAVING_WAITS.has(kind))) this.#suspended = undefined;
  }

  /**
   * Makes changes that count together: first in the journal of the run, if it has one, then in memory. If the journal
   * refuses them, nothing has changed.
   */
  record<T>(make: (plan: Plan) => T, recorder: Recorder | undefined = this.recorder): T | Promise<T> {
    return recorder === undefined ? this.#recordLater(make) : recorder.record(make);
  }

  /** Changes the machine now. The next write to a journal begins with these changes. */
  #recordLater<T>(make: (plan: Plan) => T): T {
    const plan = new Plan(this);
    const made = make(plan);
    if (this.isRecorded) for (const entry of plan.toEntries()) this.unrecorded.push(entry);
    plan.carryOut();
    return made;
  }
}

// Events that do not change who waits for what.
const LEAVING_WAITS: ReadonlySet<TreeEvent['kind']> = new Set([
  'patched',
  'queued',
  'delivered',
  'phased',
  'spawned',
  'ceded',
]);

export function originOf({ id, node }: Instance): Origin {
  return { instanceId: id, node };
}

function unknownSuspension(id: string, known: readonly Suspension[]): MachineError {
  const ids = firstFew(known.map((one) => one.id));
  const hint = ids === '' ? 'Nothing waits.' : `What waits: ${ids}.`;
  if (typeof id !== 'string')
    return new MachineError(
      'unknown_suspension',
      `resume() takes the id of what waits, machine.suspended[0].id. ${hint}`,
    );
  return new MachineError('unknown_suspension', `Nothing waits under the id ${JSON.stringify(id)}. ${hint}`);
}
