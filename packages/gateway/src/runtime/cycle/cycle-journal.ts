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
import type { TranscriptRow } from '../../domain/consciousness/load-consciousness.ts';
import { RunCancelled } from '../../domain/runs/run-cancelled.ts';
import { toJson } from '../../ports/store/json.ts';
import { retryWhileUnavailable } from '../../ports/store/retry-while-unavailable.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { Json } from '../../ports/store/tables.ts';
import { hideTagIn } from '../../telemetry/hide-tag.ts';
import { fenced } from '../lease/lease.ts';
import { releaseIfIdle } from '../lease/release-thread.ts';
import { writeCalls } from './call-rows.ts';
import { closeRun } from './close-run.ts';
import { isOverBudget } from './compact-consciousness.ts';
import { insertEntries, type SerializedRecord, serializeRecord } from './insert-entries.ts';
import type { OutputLimit } from './output-limit.ts';
import { type EndEntry, snapshotForReaders, storable, storableOutcome, withoutExpiry } from './storable-settlement.ts';
import { type CallEndContext, writeCallEnd } from './write-call-end.ts';

/** A record that waits to be written, and what else its transaction must do. */
interface BufferedRecord extends SerializedRecord {
  readonly end?: (tx: Tx) => Promise<void>;
}

export interface CycleJournalOptions extends CallEndContext {
  /** Keeps outputs within their limit, and knows what was cut off. */
  readonly outputs: OutputLimit;
  /**
   * True if somebody asked to cancel the run: then calls that the abort cut off are settled, and the run ends. Any
   * other abort is this gateway's own, and nothing is written after it: a call that was cut off may still have had its
   * effect, so the run stays as it is, and the worker that takes it over treats the call like one that a killed process
   * left.
   */
  readonly isCancelled: () => boolean;
  /** When this is aborted, the journal stops waiting for the store. */
  readonly signal: AbortSignal;
  /** Called after a call changed what the agent keeps (goals, memories, plans, its space). */
  readonly onStaged: () => Promise<void>;
}

/**
 * Stores the journal of a cycle. Every transaction is fenced by the thread's epoch, so a worker that lost its lease
 * writes nothing. The end of a call, what the call wrote to our own tables, its card and what readers of the space see
 * are one transaction.
 */
export class CycleJournal implements Journal {
  readonly #options: CycleJournalOptions;
  // Writes happen one after the other: parallel calls end in parallel, and the rows are numbered.
  #last: Promise<unknown> = Promise.resolve();
  /**
   * Records that nothing depends on yet: a reply, or the end of a call. They are written together with the next record
   * in one transaction, or as soon as the turn waits for the model or a tool. Nothing takes effect before the records
   * that led to it are durable.
   */
  #buffer: BufferedRecord[] = [];
  #isFlushing = false;
  /** Set when a write failed. Nothing is written after that: the run resumes from what is stored. */
  #failure: { readonly error: unknown } | undefined;
  #isClosed = false;

  constructor(options: CycleJournalOptions) {
    this.#options = options;
  }

  async append(entries: readonly Entry[]): Promise<void> {
    this.#assertOpen();
    for (const entry of entries) this.#onEntry(entry);
    const records = entries.map((entry) => ({ entry }));
    if (entries.every(({ kind }) => kind === 'reply')) return await this.#bufferRecords(records.map(serializeRecord));
    const last = entries.at(-1);
    if (last?.kind === 'stop') await this.#writeStop(records, last.stop);
    else await this.#write(records, async () => {});
  }

  async settle(endEntry: EndEntry, staged: Staged): Promise<void> {
    this.#assertOpen();
    const entry = storable(endEntry);
    this.#showEnd(entry.settlement);
    const { outputs, cycle } = this.#options;
    // Serialized now, like everything that is shown of the end: the tool may change its result before it is written.
    const outcomeJson = toJson(
      hideTagIn(storableOutcome(outputs.fullOutcome(endEntry.settlement.outcome)), cycle.agent.tag),
    );
    await this.#settleCall(entry.settlement, { entry: withoutExpiry(entry), staged }, outcomeJson);
  }

  /** Runs a transaction of the cycle that writes no entry of its own. */
  async transaction(work: (tx: Tx) => Promise<void>): Promise<void> {
    this.#assertOpen();
    await this.#write([], work);
  }

  /** Closes the journal: later writes are refused. Resolves when the earlier ones are done. */
  async close(): Promise<void> {
    // Buffered records are facts, also if the turn failed right after them.
    if (this.#buffer.length > 0 && !this.#isClosed) this.#flush();
    this.#isClosed = true;
    await this.#last;
  }

  async #settleCall(settlement: Settlement, record: JournalRecord, outcomeJson: Json): Promise<void> {
    const { stagedWrites, onStaged } = this.#options;
    const { callId, outcome } = settlement;
    const isStaged = stagedWrites.get(callId).length > 0;
    const snapshot = snapshotForReaders(settlement, this.#options.cycle.agent.tag);
    const end = (tx: Tx): Promise<void> => writeCallEnd(this.#options, tx, snapshot, outcomeJson);
    // Only a plain end is buffered. A staged write may be refused, and a pending call must be visible to those who
    // answer it.
    if (!isStaged && outcome.status !== 'pending')
      return await this.#bufferRecords([{ ...serializeRecord(record), end }]);
    // The buffer is written first, so that a refusal does not undo the end of another call.
    if (this.#buffer.length > 0) this.#flush();
    await this.#write([record], end);
    if (isStaged) await onStaged();
    stagedWrites.forget(callId);
  }

  /** Throws if nothing may be written any more. */
  #assertOpen(): void {
    const { signal, isCancelled } = this.#options;
    if (this.#isClosed) throw runEnded();
    if (signal.aborted && !isCancelled()) throw signal.reason;
  }

  #bufferRecords(records: readonly BufferedRecord[]): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error);
    this.#buffer.push(...records);
    if (!this.#isFlushing) {
      this.#isFlushing = true;
      process.nextTick(() => this.#flush());
    }
    return Promise.resolve();
  }

  #flush(): void {
    this.#isFlushing = false;
    if (this.#isClosed) return;
    // The next write throws this failure.
    this.#serialize(async () => {
      if (this.#buffer.length > 0) await this.#writeNow([], async () => {});
    }).catch(() => {});
  }

  #write(records: readonly JournalRecord[], work: (tx: Tx) => Promise<void>): Promise<void> {
    return this.#serialize(() => this.#writeNow(records, work));
  }

  /** If a cancel was accepted during the last step, the run ends as cancelled. */
  #writeStop(records: readonly JournalRecord[], stop: Stop): Promise<void> {
    return this.#serialize(async () => {
      try {
        await this.#writeNow(records, (tx) => this.#stop(tx, stop));
      } catch (error) {
        if (!(error instanceof RunCancelled)) throw error;
        const aborted: Entry = { kind: 'stop', stop: { reason: 'aborted' } };
        await this.#writeNow([{ entry: aborted }], (tx) => this.#close(tx, 'cancelled', aborted.stop));
      }
    });
  }

  #serialize(write: () => Promise<void>): Promise<void> {
    const written = this.#last.then(write);
    this.#last = written.catch((error: unknown) => {
      this.#failure ??= { error };
    });
    return written;
  }

  async #writeNow(records: readonly JournalRecord[], work: (tx: Tx) => Promise<void>): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure.error;
    const { services, cycle, live, signal } = this.#options;
    // A copy, because more records may come while this is written.
    const waiting = [...this.#buffer];
    const all = [...waiting, ...records.map(serializeRecord)];
    let rows: readonly TranscriptRow[] = [];
    const write = (): Promise<void> =>
      fenced(services.store, cycle.lease, async (tx, held) => {
        live.emitQueued(tx);
        rows = insertEntries(held, { runId: cycle.runId, seq: cycle.nextSeq }, all);
        writeCalls(
          tx,
          cycle.runId,
          all.map(({ record }) => record),
        );
        for (const { end } of waiting) await end?.(tx);
        await work(tx);
      });
    // Retries for as long as the lease surely lasts, so that a short outage of the store does not leave the outcome of
    // a call in doubt.
    await retryWhileUnavailable(write, { forMs: services.limits.leaseMs, signal });
    this.#buffer = this.#buffer.slice(waiting.length);
    cycle.nextSeq += all.length;
    cycle.rows.push(...rows);
  }

  #onEntry(entry: Entry): void {
    if (entry.kind === 'reply') this.#options.live.cancelUnrequested(entry.calls);
    if (entry.kind === 'stop') this.#options.live.cancelAll('The cycle ended.');
  }

  async #stop(tx: Tx, stop: Stop): Promise<void> {
    await this.#close(tx, stop.reason === 'aborted' ? 'cancelled' : 'completed', stop);
  }

  async #close(tx: Tx, status: 'completed' | 'cancelled', stop: Stop): Promise<void> {
    const { services, cycle } = this.#options;
    const usage = usageOf(cycle.transcript.entries);
    await closeRun(services, tx, cycle, { status, stop, usage });
    tx.afterCommit(() => {
      cycle.endPersisted = true;
    });
    if (!isOverBudget(cycle)) this.#releaseIfIdle(tx);
  }

  /**
   * Releases the thread together with the end of the run if no event waits, so that no other transaction has to look
   * for more.
   */
  #releaseIfIdle(tx: Tx): void {
    const { cycle } = this.#options;
    const isReleased = releaseIfIdle(tx, cycle.lease);
    tx.afterCommit(() => {
      cycle.leaseReleased = isReleased();
    });
  }

  /**
   * Queues what the space sees of the end, besides the card. This happens before the transaction, which may run more
   * than once.
   */
  #showEnd({ callId, toolName, input, outcome }: Settlement): void {
    const { live, cycle } = this.#options;
    if (toolName === 'send_message' && outcome.status === 'ok') {
      const { spaceId } = outcome.value as { spaceId: string };
      const { text, replyTo } = input as { text: string; replyTo?: string };
      live.completeText(callId, { spaceId, text, replyTo });
    } else if (outcome.status !== 'pending') {
      // A call that was shown while the model wrote it, but never got a card, is cancelled.
      if (cycle.cards.has(callId)) live.forget(callId);
      else live.cancel(callId, outcome.text);
    }
  }
}

function runEnded(): LastcallError {
  return new LastcallError('run_ended', 'The run has ended.');
}

/** Adds up the usage of the last turn. */
function usageOf(entries: readonly Entry[]): Usage {
  const turnIndex = entries.findLastIndex(({ kind }) => kind === 'turn');
  const sum = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  for (const entry of entries.slice(turnIndex)) {
    if (entry.kind !== 'reply') continue;
    sum.inputTokens += entry.usage.inputTokens;
    sum.outputTokens += entry.usage.outputTokens;
    sum.totalTokens += entry.usage.totalTokens;
  }
  return sum;
}
