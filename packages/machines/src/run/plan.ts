import type { Entry, Settlement } from '@lastcall/core';
import { toTranscriptJson } from '@lastcall/core/internal';
import { applyEvent } from '../tree/apply-event.ts';
import type { LeafIndex } from '../tree/leaf-index.ts';
import type { Log, Origin, TreeEntry } from '../tree/log.ts';
import type { NotedEntry, RecordedEntry } from '../tree/machine-record.ts';
import { userMessage } from '../tree/message.ts';
import { openCalls, pendingIn } from '../tree/open-calls.ts';
import { MAIN, ownerOf, type Thread } from '../tree/thread.ts';
import { touchedBy } from '../tree/touched-by.ts';
import { findInstance, inTreeOrder, type Tree, type Wait } from '../tree/tree.ts';
import { toTreeEntry } from '../tree/tree-entry.ts';
import type { TreeEffect, TreeEvent } from '../tree/tree-event.ts';

/** The parts of a machine that a plan reads, and changes when it is carried out. */
export interface Planned {
  readonly tree: Tree;
  readonly index: LeafIndex;
  readonly threads: ReadonlyMap<string, Thread>;
  readonly log: Log;
  /** The changes of the running leaves so far, by thread. They enter the log when their step ends. */
  readonly underway: Map<string, TreeEntry[]>;
  /** Threads that stopped in the middle of a step. */
  readonly leftovers: Set<Thread>;
  threadNamed(id: string): Thread;
  /** Replaces the tree. */
  adopt(tree: Tree, events: readonly TreeEvent[], touched: ReadonlySet<string>): void;
}

type Op =
  | { readonly kind: 'event'; readonly event: TreeEvent; readonly entries: readonly TreeEntry[] }
  | {
      readonly kind: 'entry';
      readonly thread: string;
      readonly entry: Entry;
      readonly origin: Origin;
      readonly logged: boolean;
    }
  | { readonly kind: 'beginning'; readonly thread: string; readonly entry: Entry; readonly origin: Origin }
  | { readonly kind: 'ending'; readonly thread: string; readonly entry: Entry; readonly origin: Origin }
  | { readonly kind: 'concluded'; readonly thread: string; readonly origin: Origin }
  | { readonly kind: 'noted'; readonly entry: NotedEntry }
  | { readonly kind: 'reported' };

/**
 * Changes of a machine that count together. A plan is made first, then written to the journal, then carried out: until
 * then the machine is as it was.
 */
export class Plan {
  readonly #machine: Planned;
  readonly #base: Tree;
  readonly #ops: Op[] = [];
  readonly #touched = new Set<string>();
  /** The threads that the plan concludes. */
  readonly #concluded = new Set<string>();
  /** The ends of turns that the plan writes. */
  readonly #endings = new Set<Entry>();
  /** The starts of turns that the plan writes, by thread. */
  readonly #beginnings = new Map<Thread, Entry>();
  /** The instances that cede with the plan. */
  readonly #ceded: string[] = [];
  #tree: Tree;

  constructor(machine: Planned) {
    this.#machine = machine;
    this.#base = machine.tree;
    this.#tree = machine.tree;
  }

  /** The tree after the plan. */
  get tree(): Tree {
    return this.#tree;
  }

  get isEmpty(): boolean {
    return this.#ops.length === 0;
  }

  /** Applies events to the tree, and what follows from them to the conversations. Throws if one does not fit. */
  apply(...events: readonly TreeEvent[]): void {
    const effects: TreeEffect[] = [];
    for (const event of events) {
      const before = this.#tree;
      const applied = applyEvent(before, event);
      for (const id of touchedBy(event, before, applied.tree)) this.#touched.add(id);
      this.#ops.push({ kind: 'event', event, entries: toTreeEntry(event, before, applied.tree) });
      // Pushed one by one: a move may remove more instances than a call takes arguments.
      for (const effect of applied.effects) effects.push(effect);
      if (event.kind === 'ceded') this.#ceded.push(event.id);
      this.#tree = applied.tree;
    }
    for (const effect of effects) this.#perform(effect);
  }

  /** Adds entries to a conversation that are part of the history at once. */
  say(thread: string, entries: readonly Entry[], origin: Origin): void {
    this.#takeEnding(thread, origin);
    for (const [index, entry] of entries.entries())
      this.#ops.push({ kind: 'entry', thread, entry, origin, logged: index === entries.length - 1 });
  }

  /** Adds an entry to a conversation. It is part of the history when its step is concluded. */
  add(thread: string, entry: Entry, origin: Origin): void {
    this.#takeEnding(thread, origin);
    this.#ops.push({ kind: 'entry', thread, entry, origin, logged: false });
  }

  /** The step of a leaf is over. */
  conclude(thread: string, origin: Origin): void {
    this.#takeEnding(thread, origin);
    this.#ops.push({ kind: 'concluded', thread, origin });
    this.#concluded.add(thread);
  }

  /** Ends calls of an instance that wait and will not be answered. */
  cancel(origin: Origin, waits: readonly Wait[], reason: string): void {
    const { instanceId: id } = origin;
    const name = findInstance(this.#tree, id)?.worker === true ? id : MAIN;
    const entries = this.#machine.threads.get(name)?.transcript.entries ?? [];
    this.apply(...waits.map(({ callId }) => ({ kind: 'settled', id, callId }) as const));
    this.say(
      name,
      cancelled(
        waits.flatMap(({ callId }) => pendingIn(entries, callId) ?? []),
        reason,
      ),
      origin,
    );
  }

  note(entry: NotedEntry): void {
    this.#ops.push({ kind: 'noted', entry });
  }

  /** What is in the history after the plan is reported. */
  report(): void {
    this.#ops.push({ kind: 'reported' });
  }

  /**
   * Concludes the threads that stopped in the middle of a step, and that no leaf acts on now.
   */
  takeInLeftovers(): void {
    for (const thread of this.#machine.leftovers) {
      if (this.#concluded.has(thread.id)) continue;
      const instanceId = ownerOf(thread, this.#tree);
      this.conclude(thread.id, { instanceId, node: findInstance(this.#tree, instanceId)?.node ?? '' });
    }
  }

  /**
   * Removes the instances that have ceded, in tree order. Their parents receive the content, and act again when the
   * last child is gone.
   */
  takeOutCeded(): void {
    const ids = new Set([...this.#machine.index.ceded, ...this.#ceded]);
    for (const id of [...ids].sort(inTreeOrder))
      if (findInstance(this.#tree, id)?.phase.kind === 'ceded') this.apply({ kind: 'removed', id });
  }

  /** What a journal stores of it. */
  toEntries(): readonly RecordedEntry[] {
    const entries: RecordedEntry[] = [];
    for (const op of this.#ops) {
      const entry = toEntry(op);
      const last = entries.at(-1);
      // A change is part of the entry before it, so that a step costs a journal few entries. A host looks for what was noted.
      if (entry.kind !== 'machine' || op.kind === 'noted' || last === undefined) entries.push(entry);
      else entries[entries.length - 1] = { ...last, also: [...(last.also ?? []), entry.change] };
    }
    return entries;
  }

  /** Changes the machine. The changes of a call are kept for the end of its step: `underway` collects them. */
  carryOut(underway?: TreeEntry[]): void {
    const machine = this.#machine;
    const events = this.#ops.flatMap((op) => (op.kind === 'event' ? [op.event] : []));
    if (events.length > 0) machine.adopt(this.#treeNow(events), events, this.#touched);
    for (const op of this.#ops) carryOut(machine, op, underway);
  }

  /** The plan was not written: the starts of turns that it took are still to be written. */
  giveUp(): void {
    for (const [thread, entry] of this.#beginnings) thread.beginning ??= entry;
  }

  /** The start or the end of the conversation's turn is in memory, and not in the journal yet. */
  #takeEnding(name: string, origin: Origin): void {
    const thread = this.#machine.threads.get(name);
    if (thread?.beginning !== undefined) {
      this.#ops.push({ kind: 'beginning', thread: name, entry: thread.beginning, origin });
      this.#beginnings.set(thread, thread.beginning);
      // Taken at once: the turn goes on while the plan is written, and its next entry must not begin it again.
      thread.beginning = undefined;
    }
    const entry = thread?.ending;
    if (entry === undefined || this.#endings.has(entry)) return;
    this.#endings.add(entry);
    this.#ops.push({ kind: 'ending', thread: name, entry, origin });
  }

  /** While the journal wrote, a message or an answer may have come in. */
  #treeNow(events: readonly TreeEvent[]): Tree {
    const { tree } = this.#machine;
    if (tree === this.#base) return this.#tree;
    return events.reduce((now, event) => applyEvent(now, event).tree, tree);
  }

  #perform(effect: TreeEffect): void {
    if (effect.kind === 'cancel') {
      this.#cancel(effect);
      return;
    }
    const heard = findInstance(this.#tree, effect.id);
    if (heard === undefined) return;
    const { id, node, worker } = heard;
    const entry: Entry = { kind: 'message', message: userMessage(effect.text) };
    this.say(worker ? id : MAIN, [entry], { instanceId: id, node });
  }

  /**
   * Every call ends, even if its instance is gone: all calls in a worker's own thread; in the conversation, those it
   * waited for.
   */
  #cancel({ id, node, worker, waits, reason }: Extract<TreeEffect, { kind: 'cancel' }>): void {
    const name = worker ? id : MAIN;
    const thread = this.#machine.threads.get(name);
    // A worker that was removed before its first step has no thread.
    if (thread === undefined) return;
    const open = worker
      ? [...openCalls(thread.transcript.entries).values()]
      : waits.flatMap(({ callId }) => pendingIn(thread.transcript.entries, callId) ?? []);
    const entries = cancelled(open, reason);
    const origin = { instanceId: id, node };
    if (entries.length > 0) this.say(name, entries, origin);
    else if (!this.#concluded.has(name) && thread.logged < thread.transcript.entries.length)
      this.conclude(name, origin);
  }
}

function cancelled(calls: readonly Settlement[], reason: string): readonly Entry[] {
  const outcome = { status: 'cancelled' as const, reason, text: `Cancelled: ${reason}.` };
  return calls.map((settlement) => ({ kind: 'settled', settlement: { ...settlement, outcome } }));
}

function carryOut(machine: Planned, op: Op, underway: TreeEntry[] | undefined): void {
  switch (op.kind) {
    case 'event':
      for (const entry of op.entries)
        if (underway === undefined) machine.log.happened(entry);
        else underway.push(entry);
      return;
    case 'entry': {
      const thread = machine.threadNamed(op.thread);
      thread.transcript.push(op.entry);
      if (op.logged) machine.log.takeIn(thread, op.origin);
      return;
    }
    case 'beginning':
      return;
    case 'ending':
      machine.threadNamed(op.thread).ending = undefined;
      return;
    case 'concluded': {
      const thread = machine.threadNamed(op.thread);
      machine.log.takeIn(thread, op.origin);
      thread.inFlight = false;
      machine.leftovers.delete(thread);
      for (const entry of machine.underway.get(op.thread) ?? []) machine.log.happened(entry);
      machine.underway.delete(op.thread);
      return;
    }
    case 'noted': {
      const { entry } = op;
      if (entry.kind === 'resumed') machine.log.happened(entry);
      else machine.log.happened(withoutKey(entry));
      return;
    }
    case 'reported':
      return;
  }
}

/** The key and the output are for the journal. */
export function withoutKey(noted: Extract<NotedEntry, { kind: 'command' }>): TreeEntry {
  const { idempotencyKey: _key, output: _output, ...entry } = noted;
  return entry;
}

function toEntry(op: Op): RecordedEntry {
  switch (op.kind) {
    case 'event':
      return { kind: 'machine', change: toPlainEvent(op.event) };
    case 'entry':
      return {
        ...op.entry,
        thread: op.thread,
        ...op.origin,
        ...(op.logged ? { logged: true } : {}),
        ...(op.entry.kind === 'turn' ? { session: 'kept' } : {}),
      };
    case 'beginning':
      return { ...op.entry, thread: op.thread, ...op.origin, session: 'kept' } as RecordedEntry;
    case 'ending':
      return { ...op.entry, thread: op.thread, ...op.origin };
    case 'concluded':
      return { kind: 'machine', change: { kind: 'concluded', thread: op.thread, ...op.origin } };
    case 'noted':
      return { kind: 'machine', change: op.entry };
    case 'reported':
      return { kind: 'machine', change: { kind: 'reported' } };
  }
}

/** A message may hold more than JSON does. Of a wait, the call itself has the rest, which may be large. */
function toPlainEvent(event: TreeEvent): TreeEvent {
  if (event.kind === 'waiting') {
    const { callId, toolName, kind } = event.wait;
    return { ...event, wait: { callId, toolName, kind, input: null, reason: null } };
  }
  if (event.kind !== 'queued') return event;
  const { message, silent } = event.message;
  const [plain] = toTranscriptJson([{ kind: 'message', message }]).entries;
  return { kind: 'queued', message: { message: (plain as Extract<Entry, { kind: 'message' }>).message, silent } };
}
