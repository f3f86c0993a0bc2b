import {
  type Entry,
  type Journal,
  type JournalRecord,
  LastcallError,
  type Settlement,
  type Staged,
  type Stop,
  type Usage,
} from '@lastcall/core';
import { ApiError } from '../../domain/api-error.ts';
import type { TranscriptRow } from '../../domain/consciousness/load-consciousness.ts';
import { openPending } from '../../domain/pending/open-pending.ts';
import { assertNotCancelled, RunCancelled } from '../../domain/runs/run-cancelled.ts';
import { openCardIfIn, updateCard } from '../../domain/spaces/tool-card.ts';
import { emit, runChannel } from '../../domain/streams/emit.ts';
import type { Services } from '../../ports/services.ts';
import { asJson, fromJson, toJson } from '../../ports/store/json.ts';
import { pipeline } from '../../ports/store/pipeline.ts';
import { retryWhileUnavailable } from '../../ports/store/retry-while-unavailable.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { Json, MessageStatus } from '../../ports/store/tables.ts';
import { hideTagIn } from '../../telemetry/hide-tag.ts';
import { fenced, releaseIfIdle } from '../lease.ts';
import { endCall, writeCalls } from './call-rows.ts';
import { closeRun } from './close-run.ts';
import { isOverBudget } from './compact-consciousness.ts';
import type { Cycle } from './cycle.ts';
import type { StagedWrite } from './cycle-context.ts';
import type { CycleTool } from './cycle-tools.ts';
import { insertEntries, type PreparedRecord, toPrepared } from './insert-entries.ts';
import type { LiveCalls } from './live-calls.ts';
import type { OutputLimit } from './output-limit.ts';
import { StagedWriteRefused } from './staged-write-refused.ts';
import type { Staging } from './staging.ts';
import { endUnendedCall } from './unended-calls.ts';
import { writtenInput } from './written-input.ts';

type EndEntry = Parameters<Journal['settle']>[0];

/** What waits to be written, and what else its transaction does. */
interface Held extends PreparedRecord {
  readonly end?: (tx: Tx) => Promise<void>;
}

export interface JournalParts {
  readonly services: Services;
  readonly cycle: Cycle;
  readonly live: LiveCalls;
  readonly staging: Staging;
  /** What is over the limit of an output. */
  readonly outputs: OutputLimit;
  readonly toolNamed: (name: string) => CycleTool | undefined;
  /**
   * Whether somebody asked for the run's end: then what an abort cuts off is settled, and the run ends. Any other abort is this
   * gateway's own, and nothing is written after it: that a call was cut off says nothing of what it did, so the run stays as it is,
   * and whoever takes it over treats the call as one that a killed process left.
   */
  readonly isCancelled: () => boolean;
  /** Aborted, it waits for nothing. */
  readonly signal: AbortSignal;
  /** A call changed what the agent keeps. */
  readonly onStaged: () => Promise<void>;
}

/**
 * The cycle's journal on the store. Every transaction is fenced by the thread's epoch: a worker that lost its lease writes nothing.
 * The end of a call, what the call wrote to our own tables, its card and what readers of the space see are one transaction.
 */
export class CycleJournal implements Journal {
  readonly #parts: JournalParts;
  // One after the other, because calls that run side by side end side by side, and rows are numbered.
  #last: Promise<unknown> = Promise.resolve();
  /**
   * What nothing was done upon yet: a reply, the end of a call. It is written with what is done next, in one transaction, or as soon
   * as there is something to be waited for: the model, or a tool. Nothing has an effect before what led to it is durable.
   */
  #held: Held[] = [];
  #isFlushing = false;
  /** What could not be written. Nothing more is: the run is taken up anew from what the store has. */
  #broken: { readonly error: unknown } | undefined;
  #isClosed = false;

  constructor(parts: JournalParts) {
    this.#parts = parts;
  }

  async append(entries: readonly Entry[]): Promise<void> {
    this.#assertOpen();
    for (const entry of entries) this.#hear(entry);
    const records = entries.map((entry) => ({ entry }));
    if (entries.every(({ kind }) => kind === 'reply')) return await this.#hold(records.map(toPrepared));
    const last = entries.at(-1);
    if (last?.kind === 'stop') await this.#writeStop(records, last.stop);
    else await this.#write(records, async () => {});
  }

  async settle(given: EndEntry, staged: Staged): Promise<void> {
    this.#assertOpen();
    const entry = storable(given);
    this.#showEnd(entry.settlement);
    const { outputs, cycle } = this.#parts;
    // As of now, like all that is told of the end: a tool may change what it gave before it is written.
    const kept = toJson(hideTagIn(storableOutcome(outputs.wholeOf(given.settlement.outcome)), cycle.agent.tag));
    await this.#settle(entry.settlement, { entry: withoutExpiry(entry), staged }, kept);
  }

  /** A transaction of the cycle that writes no entry. */
  async perform(work: (tx: Tx) => Promise<void>): Promise<void> {
    this.#assertOpen();
    await this.#write([], work);
  }

  /** The run has ended: nothing is written any more. Resolves when what was asked for before is. */
  async close(): Promise<void> {
    // What happened has happened, also where the turn failed right after it.
    if (this.#held.length > 0 && !this.#isClosed) this.#flush();
    this.#isClosed = true;
    await this.#last;
  }

  async #settle(settlement: Settlement, record: JournalRecord, kept: Json): Promise<void> {
    const { staging, onStaged } = this.#parts;
    const { callId, outcome } = settlement;
    const isStaged = staging.of(callId).length > 0;
    const told = asOfNow(settlement, this.#parts.cycle.agent.tag);
    const end = (tx: Tx): Promise<void> => this.#end(tx, told, kept);
    // What it wrote to our own tables may be refused, and what waits for others is theirs to see.
    if (!isStaged && outcome.status !== 'pending') return await this.#hold([{ ...toPrepared(record), end }]);
    // A refusal must not undo the end of another call.
    if (this.#held.length > 0) this.#flush();
    await this.#write([record], end);
    if (isStaged) await onStaged();
    staging.forget(callId);
  }

  /** Throws where nothing is written any more. */
  #assertOpen(): void {
    const { signal, isCancelled } = this.#parts;
    if (this.#isClosed) throw ended();
    if (signal.aborted && !isCancelled()) throw signal.reason;
  }

  #hold(held: readonly Held[]): Promise<void> {
    if (this.#broken !== undefined) return Promise.reject(this.#broken.error);
    this.#held.push(...held);
    if (!this.#isFlushing) {
      this.#isFlushing = true;
      process.nextTick(() => this.#flush());
    }
    return Promise.resolve();
  }

  #flush(): void {
    this.#isFlushing = false;
    if (this.#isClosed) return;
    // Whoever writes next hears of a failure.
    this.#inLine(async () => {
      if (this.#held.length > 0) await this.#writeNow([], async () => {});
    }).catch(() => {});
  }

  #write(records: readonly JournalRecord[], work: (tx: Tx) => Promise<void>): Promise<void> {
    return this.#inLine(() => this.#writeNow(records, work));
  }

  /** Where a cancel was accepted while the last step was under way, that is how the run ends. */
  #writeStop(records: readonly JournalRecord[], stop: Stop): Promise<void> {
    return this.#inLine(async () => {
      try {
        await this.#writeNow(records, (tx) => this.#stop(tx, stop));
      } catch (error) {
        if (!(error instanceof RunCancelled)) throw error;
        const aborted: Entry = { kind: 'stop', stop: { reason: 'aborted' } };
        await this.#writeNow([{ entry: aborted }], (tx) => this.#close(tx, 'cancelled', aborted.stop));
      }
    });
  }

  #inLine(write: () => Promise<void>): Promise<void> {
    const written = this.#last.then(write);
    this.#last = written.catch((error: unknown) => {
      this.#broken ??= { error };
    });
    return written;
  }

  async #writeNow(records: readonly JournalRecord[], work: (tx: Tx) => Promise<void>): Promise<void> {
    if (this.#broken !== undefined) throw this.#broken.error;
    const { services, cycle, live, signal } = this.#parts;
    // A copy: more may come while this is written.
    const waiting = [...this.#held];
    const all = [...waiting, ...records.map(toPrepared)];
    let rows: readonly TranscriptRow[] = [];
    const write = (): Promise<void> =>
      fenced(services.store, cycle.lease, async (tx, held) => {
        live.drain(tx);
        rows = insertEntries(held, { runId: cycle.runId, seq: cycle.nextSeq }, all);
        writeCalls(
          tx,
          cycle.runId,
          all.map(({ record }) => record),
        );
        for (const { end } of waiting) await end?.(tx);
        await work(tx);
      });
    // As long as the thread is surely ours: what a tool did need not be in doubt because the store was away for a moment.
    await retryWhileUnavailable(write, { forMs: services.limits.leaseMs, signal });
    this.#held = this.#held.slice(waiting.length);
    cycle.nextSeq += all.length;
    cycle.rows.push(...rows);
  }

  #hear(entry: Entry): void {
    if (entry.kind === 'reply') this.#parts.live.keepOnly(entry.calls);
    if (entry.kind === 'stop') this.#parts.live.cancelAll('The cycle ended.');
  }

  async #stop(tx: Tx, stop: Stop): Promise<void> {
    await this.#close(tx, stop.reason === 'aborted' ? 'cancelled' : 'completed', stop);
  }

  async #close(tx: Tx, status: 'completed' | 'cancelled', stop: Stop): Promise<void> {
    const { services, cycle } = this.#parts;
    const usage = usageOf(cycle.transcript.entries);
    await closeRun(services, tx, cycle, { status, stop, usage });
    tx.afterCommit(() => {
      cycle.endPersisted = true;
    });
    if (!isOverBudget(cycle)) this.#rest(tx);
  }

  /** Where nothing more is to be done the thread is let go along with the run's end, and nobody has to look for more. */
  #rest(tx: Tx): void {
    const { cycle } = this.#parts;
    const isReleased = releaseIfIdle(tx, cycle.lease);
    tx.afterCommit(() => {
      cycle.leaseReleased = isReleased();
    });
  }

  /** What the space sees of the end beyond the card. Before the transaction, which may run more than once. */
  #showEnd({ callId, toolName, input, outcome }: Settlement): void {
    const { live, cycle } = this.#parts;
    if (toolName === 'send_message' && outcome.status === 'ok') {
      const { spaceId } = outcome.value as { spaceId: string };
      const { text, replyTo } = input as { text: string; replyTo?: string };
      live.completeText(callId, { spaceId, text, replyTo });
    } else if (outcome.status !== 'pending') {
      // Shown while it was written, and it never got as far as a card.
      if (cycle.cards.has(callId)) live.forget(callId);
      else live.cancel(callId, outcome.text);
    }
  }

  async #end(tx: Tx, settlement: Settlement, kept: Json): Promise<void> {
    const { services, cycle, staging } = this.#parts;
    const { callId, toolName, input, outcome } = settlement;
    const isPending = outcome.status === 'pending';
    const ended = isPending
      ? ({ status: 'pending', settledAt: null } as const)
      : ({ status: 'settled', settledAt: tx.now() } as const);
    tx.send(endCall, { callId, outcome: kept, ...ended });
    const isWritten = outcome.status === 'ok' || isPending;
    const writes = isWritten ? staging.of(callId) : [];
    // Sent ahead of what is written, which waits for answers anyway: nothing lands after a cancel was accepted.
    if (isPending || writes.length > 0) await pipeline(assertNotCancelled(tx, cycle.runId), applyStaged(tx, writes));
    if (isPending) await this.#wait(tx, settlement);
    else if (cycle.cards.has(callId))
      await updateCard(services, tx, callId, { status: CARD_STATUS[outcome.status], output: outputOf(outcome) });
    const payload = hideTagIn({ callId, toolName, input, outcome }, cycle.agent.tag);
    emit(services, tx, { channel: runChannel(cycle.runId), type: END_TYPES[outcome.status], payload });
  }

  /** Somebody else will answer: what waits for them, and the card that asks them. */
  async #wait(tx: Tx, { callId, toolName, input, outcome }: Settlement): Promise<void> {
    if (outcome.status !== 'pending') return;
    const { services, cycle, live, toolNamed } = this.#parts;
    const tool = toolNamed(toolName);
    const shownIn = live.spaceOf(callId);
    // What nobody sees is for operators to answer, and for those it names.
    const spaceId = tool?.isVisible === true ? (shownIn ?? cycle.activeSpaceId) : null;
    await openPending(services, tx, {
      callId,
      agentId: cycle.agent.id,
      runId: cycle.runId,
      spaceId,
      toolName,
      kind: outcome.kind,
      input,
      display: tool?.display ?? outcome.display,
      answeredBy: tool?.answerers,
      resultSchema: tool?.resultSchema,
      inputSchema: await tool?.inputSchema(),
      expiresAt: outcome.expiresAt ?? (tool?.expiresInMs === undefined ? undefined : tx.now() + tool.expiresInMs),
    });
    if (spaceId === null) return;
    const { runId, agent } = cycle;
    const card = { spaceId, entityId: agent.entityId, runId, callId, toolName, input };
    const status = 'requires_action';
    const written = writtenInput(cycle.transcript, callId);
    const asked =
      (await updateCard(services, tx, callId, { status })) ??
      (await openCardIfIn(services, tx, { ...card, status, ...(shownIn === undefined ? { written } : {}) }));
    // The agent was taken out of the space: operators still see the call.
    if (asked === undefined && shownIn !== undefined)
      endUnendedCall(services, tx, { callId, kind: 'tool', spaceId }, 'The agent is no longer in the space.');
    tx.afterCommit(() => {
      live.forget(callId);
      cycle.cards.add(callId);
    });
  }
}

async function applyStaged(tx: Tx, writes: readonly StagedWrite[]): Promise<void> {
  try {
    for (const write of writes) await write(tx);
  } catch (error) {
    throw error instanceof ApiError ? new StagedWriteRefused(error) : error;
  }
}

const CARD_STATUS: Readonly<Record<Settlement['outcome']['status'], MessageStatus>> = {
  ok: 'complete',
  error: 'error',
  cancelled: 'cancelled',
  skipped: 'cancelled',
  pending: 'requires_action',
};

function outputOf(outcome: Settlement['outcome']): unknown {
  return outcome.status === 'ok' ? outcome.value : outcome.text;
}

const END_TYPES: Readonly<Record<Settlement['outcome']['status'], string>> = {
  ok: 'tool-call.complete',
  error: 'tool-call.error',
  cancelled: 'tool-call.cancelled',
  skipped: 'tool-call.skipped',
  pending: 'tool-call.pending',
};

function ended(): LastcallError {
  return new LastcallError('run_ended', 'The run has ended.');
}

/** Of the last turn. */
function usageOf(entries: readonly Entry[]): Usage {
  const begun = entries.findLastIndex(({ kind }) => kind === 'turn');
  const sum = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  for (const entry of entries.slice(begun)) {
    if (entry.kind !== 'reply') continue;
    sum.inputTokens += entry.usage.inputTokens;
    sum.outputTokens += entry.usage.outputTokens;
    sum.totalTokens += entry.usage.totalTokens;
  }
  return sum;
}

/** A tool may change what it gave before it is written. What it gave is shown to others: the agent's frame is not for them. */
function asOfNow(settlement: Settlement, tag: string): Settlement {
  const { input, outcome } = fromJson<Pick<Settlement, 'input' | 'outcome'>>(
    toJson({ input: settlement.input, outcome: settlement.outcome }),
  );
  return { ...settlement, input, outcome: hideTagIn(outcome, tag) };
}

/** What a tool gave has happened, whatever it is: a value that no table holds must not undo the call. */
function storable(entry: EndEntry): EndEntry {
  const { input, outcome } = entry.settlement;
  const told = { ...entry.settlement, input: asJson(input), outcome: storableOutcome(outcome) };
  return { ...entry, settlement: told } as EndEntry;
}

function storableOutcome(outcome: Settlement['outcome']): Settlement['outcome'] {
  return outcome.status === 'ok' ? { ...outcome, value: asJson(outcome.value) } : outcome;
}

/** When a call expires is decided in one place, by its row: a worker's clock has no say in it. */
function withoutExpiry(entry: EndEntry): EndEntry {
  const { outcome } = entry.settlement;
  if (outcome.status !== 'pending' || outcome.expiresAt === undefined) return entry;
  const { expiresAt: _expiresAt, ...rest } = outcome;
  return { ...entry, settlement: { ...entry.settlement, outcome: rest } };
}
