import { replay, type Session, Transcript } from '@lastcall/core';
import { forkSession, type SessionHost } from '@lastcall/core/internal';
import { CountedMessages } from './estimate-tokens.ts';
import { fromFirstRow, type StoredRecord, type TranscriptRow, toRecord } from './load-transcript.ts';
import { isOfMachine } from './machine-rows.ts';
import { recordsAfter, restoreSession, type SessionState } from './restore-session.ts';
import { SentMessages } from './sent-messages.ts';

/**
 * What a thread remembers, read from its rows once and kept up to date between runs, so that a run costs the same however
 * many came before.
 *
 *     rows        r1 … r6 ──────────────┬─ r7 … r12 ─────┬─ …     as they are stored
 *                    │ read once        │ read once      │
 *     past        ───▶ p ───────────────▶ p ─────────────▶ p       knows stored rows only
 *                      │ fork           │ fork           │ fork
 *     run              ▼ 1              ▼ 2              ▼ 3       adds what happens, and is discarded
 *
 * 1. It knows stored rows only. What a run adds to its fork is added here once it is stored, and as it was stored.
 * 2. It reads each row once. Rows that do not begin with the rows it has read belong to another transcript: `pastOf`.
 * 3. Objects that it shares with forks are frozen: no tool and no model can change what a later run remembers.
 * 4. A row that cannot be read is an error every time. It is never left out.
 */
export class PastTranscript {
  readonly #transcript = new Transcript();
  readonly #records: StoredRecord[] = [];
  /** The messages as they were last sent to the model. */
  readonly sent: SentMessages = new SentMessages();
  #session: { readonly session: Session; replayed: number } | undefined;
  #hasCheckpoint = false;
  #characters = 0;
  #counted = CountedMessages.NONE;
  #provider: string | undefined;
  #last: TranscriptRow | undefined;
  #length = 0;
  #failure: { readonly error: unknown } | undefined;

  /** Reads the rows that are new. */
  read(rows: readonly TranscriptRow[]): void {
    if (this.#failure !== undefined) throw this.#failure.error;
    try {
      for (; this.#length < rows.length; this.#length++) this.#add(rows[this.#length] as TranscriptRow);
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
  }

  /** True if the rows begin with those that were read. New rows may follow. */
  isOf(rows: readonly TranscriptRow[]): boolean {
    return this.#length > 0 && rows[this.#length - 1] === this.#last;
  }

  /** The transcript for one run. */
  fork(): Transcript {
    // Computed here, so that forks need not: runs mostly ask for the messages of the same provider.
    if (this.#provider !== undefined) this.#transcript.shownTo(this.#provider);
    const forked = this.#transcript.fork();
    this.#counted = this.#counted.next(forked.view());
    return forked;
  }

  /** Sets the provider whose model is called. The next fork will have its messages. */
  shownTo(provider: string): void {
    this.#provider = provider;
  }

  /** The session as the last run left it, for one run. `state` is a snapshot that was taken at some row. */
  session(state: SessionState | undefined, host: SessionHost = {}): Session {
    // A rewind goes back to a checkpoint, which may be records before the new ones.
    if (this.#hasCheckpoint) return restoreSession({ state, records: this.#records, host });
    try {
      this.#session ??= { session: restoreSession({ state, records: [] }), replayed: 0 };
      const { session, replayed } = this.#session;
      this.#session.replayed = this.#records.length;
      replay(session, recordsAfter(state, this.#records.slice(replayed)));
      return forkSession(session, host);
    } catch (error) {
      this.#session = undefined;
      throw error;
    }
  }

  /** The size of the rows. Rows that were read are not measured again. */
  charactersOf(rows: readonly TranscriptRow[]): number {
    return rows.slice(this.#length).reduce((sum, { payload }) => sum + payload.length, this.#characters);
  }

  /** How many entries a fork begins with. */
  get entries(): number {
    return this.#transcript.entries.length;
  }

  /** The size of the messages that the last fork began with. */
  get counted(): CountedMessages {
    return this.#counted;
  }

  #add(row: TranscriptRow): void {
    const carried = this.#length === 0 ? fromFirstRow(row) : undefined;
    const stored = carried === undefined ? toRecord(row) : undefined;
    // What a machine wrote is no part of a conversation with one model. The machine is restored from its rows.
    const record = stored === undefined || isOfMachine(stored.entry) ? undefined : stored;
    const entries = carried ?? (record === undefined ? [] : [record.entry]);
    this.#transcript.push(...entries);
    if (record !== undefined) this.#records.push(record);
    this.#hasCheckpoint ||= record?.entry.kind === 'checkpoint';
    this.#characters += row.payload.length;
    this.#last = row;
  }
}

const pasts = new WeakMap<TranscriptRow, PastTranscript>();

/** The size of the rows. */
export function charactersOf(rows: readonly TranscriptRow[]): number {
  return (knownPast(rows) ?? new PastTranscript()).charactersOf(rows);
}

/**
 * The past transcript of these rows. It is found by its first row: cached rows are the same objects in each run, and the past
 * transcript is kept with them.
 */
export function pastOf(rows: readonly TranscriptRow[]): PastTranscript {
  const past = knownPast(rows) ?? new PastTranscript();
  const [first] = rows;
  if (first !== undefined) pasts.set(first, past);
  past.read(rows);
  return past;
}

function knownPast(rows: readonly TranscriptRow[]): PastTranscript | undefined {
  const [first] = rows;
  const known = first === undefined ? undefined : pasts.get(first);
  return known?.isOf(rows) === true ? known : undefined;
}
