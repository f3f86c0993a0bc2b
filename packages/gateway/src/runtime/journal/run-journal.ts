import { type Entry, type Journal, LastcallError, type Staged, type StartedCall, type TurnEvent } from '@lastcall/core';
import { isReservedToolName } from '../../config/reserved-tool-names.ts';
import type { GrantUse, UsedGrant } from '../../domain/grants/use-grant.ts';
import type { TranscriptRow } from '../../domain/transcript/load-transcript.ts';
import { isOfMachine, originOf, ROOT, repliesOfRun } from '../../domain/transcript/machine-rows.ts';
import { toEntryPayload } from '../../domain/transcript/transcript-row.ts';
import { decide } from '../run/decide.ts';
import type { DecisionContext } from '../run/decision.ts';
import { rawInput } from '../run/raw-input.ts';
import type { CallStarted, CallsRecovered, RunEvent } from '../run/run-event.ts';
import type { RunState } from '../run/run-state.ts';
import type { Write } from '../run/run-write.ts';
import { type EndEntry, serializeEnd } from '../run/settlement-json.ts';
import type { AgentPosition } from '../tools/built-in-context.ts';
import { type Applied, toRow } from './apply-writes.ts';
import { toCallChanges } from './call-changes.ts';
import { DelayedFlush } from './delayed-flush.ts';
import { FileJournal } from './file-journal.ts';
import { LiveOrder } from './live-order.ts';
import { isStored } from './request-texts.ts';
import type { RunJournalOptions } from './run-journal-options.ts';
import { isEnd, RunTransactions } from './run-transactions.ts';
import { UnshownWrites } from './unshown-writes.ts';
import { WriteQueue } from './write-queue.ts';

/**
 * The journal of a run. It holds the run's state, asks `decide` what each event changes, and applies the resulting
 * writes. Every transaction is fenced by the thread's epoch, so a worker that lost its lease cannot write.
 *
 * A reply and a plain end of a call are buffered until the next write, or until the turn waits for the model or a tool:
 * nothing takes effect before the records that led to it are durable. Events for spaces about a reply that is still
 * being written are buffered for up to 50 ms, and so are events on the stream of a conversation's run, except for the first
 * words of a step. Everything else is written at once.
 */
export class RunJournal implements Journal {
  readonly #options: RunJournalOptions;
  readonly #transactions: RunTransactions;
  readonly #context: DecisionContext;
  readonly #live: LiveOrder;
  readonly #files: FileJournal | undefined;
  readonly #queue = new WriteQueue((writes) => this.#apply(writes));
  readonly #liveFlush: DelayedFlush;
  /** The stored transcript. */
  readonly #rows: TranscriptRow[];
  /** Calls that run without a card, because the agent was removed from the space that would see them. */
  readonly #refusedCards = new Set<string>();
  /** The grants because of which calls of this run do not wait. */
  readonly #grants = new Map<string, UsedGrant>();
  /** The calls of this run: their inputs as the model wrote them, and the nodes that made them. */
  readonly #calls = new Map<string, PlannedCall>();
  #state: RunState;
  #charactersWritten = 0;
  #isFlushing = false;
  #isClosed = false;

  constructor(options: RunJournalOptions) {
    const { run, toolNamed } = options;
    this.#options = options;
    const applied = {
      ...options,
      nodeOf: (callId: string) => this.nodeOf(callId),
      grantedCard: (callId: string) => this.#grants.get(callId)?.card,
    };
    this.#transactions = new RunTransactions(options, applied, new UnshownWrites((callId) => this.#rawInput(callId)));
    const isVisible = (name: string): boolean => toolNamed(name)?.isVisible === true;
    // Also for a tool that is not known any more, such as one of a server that is down when the run is taken over.
    const isPostable = (name: string): boolean => !isReservedToolName(name) && toolNamed(name)?.isSilent !== true;
    const runStream = run.settings?.isUnwatched === true ? 'ends' : run.kind.runStream;
    const showsWait = options.showsWait ?? isVisible;
    const { endsRun } = options;
    const isFork = run.fork !== undefined;
    this.#context = {
      runId: run.runId,
      agent: run.agent,
      isFork,
      runStream,
      isVisible,
      showsWait,
      isPostable,
      endsRun,
    };
    this.#live = new LiveOrder(options.services.limits, runStream, () => repliesOfRun(run.rows));
    this.#liveFlush = new DelayedFlush(() => this.#flush());
    this.#rows = [...run.rows];
    this.#state = run.start;
    this.#files = options.files === undefined ? undefined : new FileJournal(options.files, run);
  }

  get state(): RunState {
    return this.#state;
  }

  /** The size of the rows that this run has written, also of those that are still buffered. */
  get charactersWritten(): number {
    return this.#charactersWritten;
  }

  /** The agent's active space, and the one in which it was announced. */
  get position(): AgentPosition {
    return this.#state.status === 'running' ? this.#state : NOWHERE;
  }

  /** Handles the events that core reports while the model writes and tools run. */
  onEvent(turnEvent: TurnEvent): void {
    const event = this.#live.read(turnEvent);
    if (event === undefined) return;
    const writes = this.#decide(event);
    const waits = this.#live.waitsForWrite(event);
    if (waits && writes.every(({ kind }) => kind === 'live-event')) this.#queue.add(writes);
    else this.#addLive(writes, { isFirst: this.#live.isFirstOfStep(event) });
  }

  /** Resolves when the entries are durable. Returns nothing for a reply that is buffered: there is nothing to wait for. */
  append(entries: readonly Entry[]): undefined | Promise<void> {
    this.#assertOpen();
    const writes = [...this.#usage(entries.some(isEndOfRun)), ...entries.flatMap((entry) => this.#writesOf(entry))];
    const undo = this.#files?.undoWrites(entries) ?? [];
    if (undo.length > 0) return this.#writeUndo([...undo, ...writes]);
    if (!entries.every(isBuffered)) return this.#queue.write(writes).then(nothing);
    this.#buffer(writes);
    return undefined;
  }

  /** What models were asked is counted with what they answered. A sub-agent's requests are counted with the end of its call. */
  #usage(isEnd: boolean): readonly Write[] {
    const usage = this.#options.spend.take({ isEnd });
    return usage.length === 0 ? [] : [{ kind: 'count-usage', usage }];
  }

  /** A machine also appends ends of calls, when it cancels those of instances that are gone. */
  #writesOf(entry: Entry): readonly Write[] {
    return entry.kind === 'settled' ? this.#decideEnd(entry, { events: [] }) : this.#decide(this.#toEvent(entry));
  }

  /** Writes that a call starts, together with its card: a started call has a card even if this process dies. */
  start(entry: StartedEntry, { toolName, input }: StartedCall): Promise<void> {
    this.#assertOpen();
    const { callId } = entry;
    this.#noteCaller(callId, entry);
    const started = this.#decide(this.#toEvent(entry));
    const spaceId = this.#context.isVisible(toolName) ? this.spaceOf(callId) : null;
    const shown = spaceId === null ? [] : this.#decideShown({ callId, toolName, spaceId, input });
    return this.#queue.write([...started, ...shown]).then(nothing);
  }

  /** Looks for a grant that covers a call which would wait for approval. If there is one, it is stored with the call. */
  async useGrant(use: Omit<GrantUse, 'spaceId'>): Promise<boolean> {
    this.#assertOpen();
    const { callId, toolName } = use;
    const spaceId = this.#context.showsWait(toolName) ? this.spaceOf(callId) : null;
    const { grants } = await this.#queue.write([{ kind: 'use-grant', use: { ...use, spaceId } }]);
    const used = grants.get(callId);
    if (used === undefined) return false;
    this.#grants.set(callId, used);
    return true;
  }

  /** The same for the end of a call. */
  settle(entry: EndEntry, staged: Staged): undefined | Promise<void> {
    this.#assertOpen();
    const changed = this.#files?.unsavedOf(staged) ?? [];
    return this.#files === undefined || changed.length === 0
      ? this.#settle(entry, staged)
      : this.#settleWithFiles(entry, staged, { files: this.#files, changed });
  }

  async #settleWithFiles(
    entry: EndEntry,
    staged: Staged,
    { files, changed }: { readonly files: FileJournal; readonly changed: NonNullable<Staged['files']> },
  ): Promise<void> {
    const { stagedWrites, secrets } = this.#options;
    const withChanges = await files.changesOf(staged, changed, secrets);
    this.#assertOpen();
    const { callId } = entry.settlement;
    const hasOtherWrites = stagedWrites.get(callId).length > 0;
    stagedWrites.add(callId, files.toWrite(callId, changed));
    await this.#settle(entry, withChanges, { isSituationChanged: hasOtherWrites });
    files.saved(changed);
  }

  #settle(entry: EndEntry, staged: Staged, how?: StagedHow): undefined | Promise<void> {
    const { stagedWrites } = this.#options;
    const { callId } = entry.settlement;
    const { machine = [] } = staged as MachineStaged;
    const cancelled = machine.flatMap((one) => (one.kind === 'settled' ? [one as SettledEntry] : []));
    const writes = [
      ...this.#usage(false),
      ...this.#decideEnd(entry, staged),
      ...cancelled.flatMap((one) => this.#decideEnd(one, { events: [] }, { isInside: true })),
    ];
    // Only a plain end is buffered. A staged write may be refused, and must not undo the end of another call. A pending
    // call must be visible to those who answer it.
    if (writes.some(({ kind }) => kind === 'staged-writes')) return this.#writeStaged(callId, writes, how);
    this.#buffer(writes);
    stagedWrites.forget(callId);
    return undefined;
  }

  #decideEnd(entry: EndEntry, staged: Staged, { isInside = false } = {}): readonly Write[] {
    const { outputs, stagedWrites, secrets } = this.#options;
    const { callId, outcome } = entry.settlement;
    this.#noteCaller(callId, entry);
    const fullOutcome = outputs.fullOutcome(outcome);
    const isApplied = outcome.status === 'ok' || outcome.status === 'pending';
    const changes = toCallChanges([staged.changes, stagedWrites.changes(callId, { isApplied })], secrets);
    const { machine } = staged as MachineStaged;
    return this.#decide({
      type: 'call-ended',
      ...serializeEnd(entry, { slices: staged.slices, machine, changes, fullOutcome }),
      rawInput: outcome.status === 'pending' ? this.#rawInput(callId) : '',
      hasStagedWrites: stagedWrites.get(callId).length > 0,
      isInside,
      isLate: entry.kind === 'settled' && entry.late === true,
    });
  }

  async #writeStaged(callId: string, writes: readonly Write[], how?: StagedHow): Promise<void> {
    const { stagedWrites, onStaged } = this.#options;
    const { isSituationChanged = stagedWrites.get(callId).length > 0 } = how ?? {};
    await this.#queue.write(writes, { isAlone: true });
    if (isSituationChanged) await onStaged();
    stagedWrites.forget(callId);
  }

  async #writeUndo(writes: readonly Write[]): Promise<void> {
    await this.#queue.write(writes);
    this.#files?.undone(writes);
  }

  /** Shows a visible call on a card, if it has none. Returns false if the agent was removed from the space. */
  async showCall(call: ShownStart): Promise<boolean> {
    this.#assertOpen();
    const { callId } = call;
    if (this.#refusedCards.has(callId)) return false;
    const writes = this.#decideShown(call);
    if (writes.some(({ kind }) => kind === 'open-card')) await this.#queue.write(writes);
    else this.#addLive(writes);
    return !this.#refusedCards.has(callId);
  }

  /** The reply that asked for the call may have been written by an earlier run, or by a worker that died. */
  #noteCaller(callId: string, entry: Entry): void {
    const { node, thread } = originOf(entry);
    if (thread === undefined || this.#calls.has(callId)) return;
    this.#calls.set(callId, { input: undefined, node, isOfWorker: thread !== ROOT });
  }

  /** The node of a machine that made the call. */
  nodeOf(callId: string): string | undefined {
    return this.#calls.get(callId)?.node;
  }

  /** True if an instance of a machine made the call that does not talk to people, but works for another instance. */
  isOfWorker(callId: string): boolean {
    return this.#calls.get(callId)?.isOfWorker === true;
  }

  /** The space that sees the call, or would see it. */
  spaceOf(callId: string): string | null {
    const state = this.#state;
    return state.status === 'running' ? (state.shown.get(callId)?.spaceId ?? state.activeSpaceId) : null;
  }

  async recover(calls: Omit<CallsRecovered, 'type'>): Promise<void> {
    this.#assertOpen();
    const writes = this.#decide({ type: 'calls-recovered', ...calls });
    if (writes.length > 0) await this.#queue.write(writes);
  }

  /** Closes the journal: later writes are refused. Resolves when the earlier ones are done. */
  async close(): Promise<void> {
    this.#liveFlush.stop();
    // Buffered records are facts, also if the turn failed right after them.
    if (!this.#isClosed && this.#queue.hasRecords) this.#queue.flush();
    this.#isClosed = true;
    await this.#queue.idle();
  }

  #toEvent(entry: Entry): RunEvent {
    if (entry.kind === 'reply') return this.#toReply(entry);
    const payload = toEntryPayload({ entry });
    if (entry.kind !== 'stop' || !isEndOfRun(entry)) return { type: 'entry-appended', entry, payload };
    const { stop } = entry;
    return { type: 'turn-stopped', stop, payload, ...this.#options.endOf(stop) };
  }

  /** A reply refers to what the model was sent. If the run's messages are not saved, this is not stored either. */
  #toReply(entry: Extract<Entry, { kind: 'reply' }>): RunEvent {
    const { run, requests, services } = this.#options;
    const { node, thread } = originOf(entry);
    const isOfWorker = thread !== undefined && thread !== ROOT;
    for (const { callId, input } of entry.calls) this.#calls.set(callId, { input, node, isOfWorker });
    const noted = run.settings?.save === false ? undefined : requests.of(entry.step, thread);
    const texts = noted?.texts.filter((text) => !isStored(services.store, text));
    return { type: 'entry-appended', entry, payload: toEntryPayload({ entry, request: noted?.request }), texts };
  }

  #decideShown(call: ShownStart): readonly Write[] {
    const raw = this.#rawInput(call.callId);
    return this.#decide({ type: 'call-started', ...call, rawInput: raw });
  }

  /** The input of a call as the model wrote it. */
  #rawInput(callId: string): string {
    return this.#calls.get(callId)?.input ?? rawInput(this.#options.run.transcript, callId);
  }

  #decide(event: RunEvent): readonly Write[] {
    const [state, writes] = decide(this.#state, event, this.#context);
    this.#state = state;
    for (const write of writes) if (write.kind === 'entry') this.#charactersWritten += write.payload.length;
    return writes;
  }

  /** Throws if nothing may be written any more. */
  #assertOpen(): void {
    const { signal, isCancelled } = this.#options;
    if (this.#isClosed) throw new LastcallError('run_ended', 'The run has ended.');
    if (signal.aborted && !isCancelled()) throw signal.reason;
  }

  #addLive(writes: readonly Write[], { isFirst = false } = {}): void {
    if (writes.length === 0) return;
    this.#queue.add(writes);
    if (isFirst) this.#flush();
    else this.#liveFlush.schedule();
  }

  #buffer(writes: readonly Write[]): void {
    this.#queue.assertSound();
    this.#queue.add(writes);
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    process.nextTick(() => {
      this.#isFlushing = false;
      if (!this.#isClosed) this.#queue.flush();
    });
  }

  /** After an abort, the worker that takes the run over ends what spaces saw of the reply. */
  #flush(): void {
    const { signal, isCancelled } = this.#options;
    if (!this.#isClosed && (!signal.aborted || isCancelled())) this.#queue.flush();
  }

  async #apply(decided: readonly Write[]): Promise<Applied> {
    const committed = await this.#transactions.commit(decided);
    const { run, cancel } = this.#options;
    const { writes, refusedCards, isCancelAccepted, thread, waiting } = committed;
    // Before the call runs, which waits for its start to be written.
    if (isCancelAccepted) cancel();
    this.#rows.push(...writes.flatMap((one) => (one.kind === 'entry' ? [toRow(one)] : [])));
    for (const { callId, spaceId } of refusedCards) {
      this.#refusedCards.add(callId);
      this.#decide({ type: 'card-refused', callId, spaceId });
    }
    const end = writes.find(isEnd);
    const rows = run.settings?.save === false ? 'unknown' : this.#rows;
    if (end !== undefined) this.#decide({ type: 'run-closed', as: end.as, thread, waiting, rows });
    return committed;
  }
}

interface PlannedCall {
  /** As the model wrote it. Undefined if this journal was not given the reply. */
  readonly input: string | undefined;
  readonly node: string | undefined;
  readonly isOfWorker: boolean;
}

interface StagedHow {
  /** True if the call changed goals, memories, plans or its space. Default: if it staged any write. */
  readonly isSituationChanged?: boolean;
}

type StartedEntry = Extract<Entry, { kind: 'started' }>;
type ShownStart = Omit<CallStarted, 'type' | 'rawInput'>;

type SettledEntry = Extract<Entry, { kind: 'settled' }>;

/** What a machine adds to the changes of a call: entries that belong to the same write. */
type MachineStaged = Staged & { readonly machine?: readonly Entry[] };

/**
 * True for an entry that waits for the next write. Replies, and what a machine notes about the steps of its instances: no one acts on
 * them before the next write.
 */
function isBuffered(entry: Entry): boolean {
  return entry.kind === 'reply' || (isOfMachine(entry) && entry.kind !== 'started' && entry.kind !== 'settled');
}

const nothing = (): void => {};

/** The steps of a machine's instances end too, long before the run does. */
function isEndOfRun(entry: Entry): boolean {
  return entry.kind === 'stop' && !isOfMachine(entry);
}

const NOWHERE: AgentPosition = { activeSpaceId: null, announcedSpaceId: null };
