import type { Answer, Settlement } from '@lastcall/core';
import type { CompiledCharter } from '../charter/charter.ts';
import { firstFew } from '../charter/first-few.ts';
import { MachineError } from '../errors.ts';
import { applyEvent } from '../tree/apply-event.ts';
import { LeafIndex } from '../tree/leaf-index.ts';
import { Ledger } from '../tree/ledger.ts';
import { Log, type MachineEntry, type Origin, type TreeEntry, toEntries } from '../tree/log.ts';
import { type MachineMessage, toQueued, userMessage } from '../tree/message.ts';
import { openCalls } from '../tree/open-calls.ts';
import { findSuspension, listSuspensions, type Suspension, toAnswer } from '../tree/suspension.ts';
import { MAIN, type SessionOptions, Thread } from '../tree/thread.ts';
import { findInstance, type Instance, inTreeOrder, parentId, type Tree, walk } from '../tree/tree.ts';
import { toTreeEntry } from '../tree/tree-entry.ts';
import type { TreeEffect, TreeEvent } from '../tree/tree-event.ts';
import type { CommandOptions } from './command-options.ts';
import type { Machine } from './machine.ts';
import { runCommand } from './run-command.ts';
import { Turnstile } from './turnstile.ts';

export interface LiveParts {
  readonly charter: CompiledCharter;
  readonly tree: Tree;
  readonly sessionOptions: (instanceId: string) => SessionOptions;
  readonly threads?: ReadonlyMap<string, Thread>;
  readonly log?: Log;
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
  /** The changes of the running leaves so far. They enter the log in tree order, when all leaves have ended. */
  readonly underway: Map<string, TreeEntry[]> = new Map();
  /** Threads that were stored in the middle of a step. */
  readonly leftovers: Set<Thread>;
  readonly #sessionOptions: LiveParts['sessionOptions'];
  #tree: Tree;
  /** Computed on demand and cached until it changes: most steps do not change it. */
  #suspended: readonly Suspension[] | undefined;

  constructor({ charter, tree, sessionOptions, threads, log }: LiveParts) {
    this.charter = charter;
    this.threads = new Map(threads);
    this.log = log ?? new Log();
    this.index = new LeafIndex(tree);
    this.leftovers = new Set([...this.threads.values()].filter(({ inFlight }) => inFlight));
    this.#sessionOptions = sessionOptions;
    this.#tree = tree;
  }

  static of(machine: Machine): LiveMachine {
    if (machine instanceof LiveMachine) return machine;
    throw new MachineError('machine', 'Expected a machine from createMachine() or deserializeMachine().');
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
    this.apply({ kind: 'queued', message: toQueued(message) });
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
    const answer: Answer = toAnswer(waiting, payload);
    this.apply({ kind: 'answered', id: waiting.instanceId, callId: waiting.callId, answer });
    const { instanceId, node, callId } = waiting;
    this.log.happened({ kind: 'resumed', instanceId, node, callId });
  }

  /** The thread of an instance: the conversation with the user, or a worker's own thread. */
  threadOf({ id, worker }: Pick<Instance, 'id' | 'worker'>): Thread {
    const name = worker ? id : MAIN;
    const known = this.threads.get(name);
    if (known !== undefined) return known;
    const made = new Thread({ id: name, sessionOptions: () => this.#sessionOptions(name) });
    this.threads.set(name, made);
    return made;
  }

  /**
   * Applies all events to the tree, or none if one does not fit, and runs their effects. Returns the entries for the
   * log.
   */
  apply(...events: readonly TreeEvent[]): readonly TreeEntry[] {
    const entries: TreeEntry[] = [];
    const effects: TreeEffect[] = [];
    const touched = new Set<string>();
    let tree = this.#tree;
    for (const event of events) {
      const applied = applyEvent(tree, event);
      for (const id of touchedBy(event, tree, applied.tree)) touched.add(id);
      for (const entry of toTreeEntry(event, tree, applied.tree)) entries.push(entry);
      // Pushed one by one: a move may remove more instances than a call takes arguments.
      for (const effect of applied.effects) effects.push(effect);
      tree = applied.tree;
    }
    this.#tree = tree;
    this.index.update(tree, touched);
    if (events.some(({ kind }) => !LEAVING_WAITS.has(kind))) this.#suspended = undefined;
    for (const effect of effects) this.#perform(effect);
    return entries;
  }

  /**
   * Removes the instances that have ceded, in tree order. Their parents receive the content, and act again when the
   * last child is gone.
   */
  takeOutCeded(): void {
    for (const id of [...this.index.ceded].sort(inTreeOrder)) this.apply({ kind: 'removed', id });
  }

  /** Adds a text to the context of an instance. */
  say(instance: Instance, text: string): void {
    const thread = this.threadOf(instance);
    thread.transcript.push({ kind: 'message', message: userMessage(text) });
    this.log.takeIn(thread, originOf(instance));
  }

  #perform(effect: TreeEffect): void {
    if (effect.kind === 'cancel') {
      this.#cancel(effect);
      return;
    }
    const heard = findInstance(this.#tree, effect.id);
    if (heard !== undefined) this.say(heard, effect.text);
  }

  /**
   * Every call ends, even if its instance is gone: all calls in a worker's own thread; in the conversation, those it
   * waited for.
   */
  #cancel({ id, node, worker, waits, reason }: Extract<TreeEffect, { kind: 'cancel' }>): void {
    const thread = this.threads.get(worker ? id : MAIN);
    // A worker that was removed before its first step has no thread.
    if (thread === undefined) return;
    const open = worker
      ? [...openCalls(thread.transcript.entries).values()]
      : waits.flatMap(({ callId }) => pendingIn(thread, callId) ?? []);
    for (const settlement of open) {
      const outcome = { status: 'cancelled' as const, reason, text: `Cancelled: ${reason}.` };
      thread.transcript.push({ kind: 'settled', settlement: { ...settlement, outcome } });
    }
    this.log.takeIn(thread, { instanceId: id, node });
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

/** The waiting call, if it still waits. */
export function pendingIn(thread: Thread, callId: string): Settlement | undefined {
  const last = thread.transcript.entries.findLast(
    (entry) => (entry.kind === 'pending' || entry.kind === 'settled') && entry.settlement.callId === callId,
  );
  return last?.kind === 'pending' ? last.settlement : undefined;
}

function touchedBy(event: TreeEvent, before: Tree, after: Tree): readonly string[] {
  switch (event.kind) {
    case 'patched':
    case 'queued':
      return [];
    case 'delivered':
      return [after.speaker];
    case 'moved':
      return idsWithin(before, event.id);
    case 'spawned':
      return idsWithin(after, event.id);
    case 'removed':
      return [event.id, parentId(event.id) ?? event.id];
    case 'ceded':
    case 'phased':
    case 'waiting':
    case 'settled':
    case 'answered':
      return [event.id];
  }
}

function idsWithin(tree: Tree, id: string): readonly string[] {
  const instance = findInstance(tree, id);
  return instance === undefined ? [] : [...walk(instance)].map((one) => one.id);
}

function unknownSuspension(id: string, known: readonly Suspension[]): MachineError {
  const ids = firstFew(known.map((one) => one.id));
  const hint = ids === '' ? 'Nothing waits.' : `What waits: ${ids}.`;
  return new MachineError('unknown_suspension', `Nothing waits under the id ${JSON.stringify(id)}. ${hint}`);
}
