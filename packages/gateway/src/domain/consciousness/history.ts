import { type Entry, replay, type Session, Transcript } from '@lastcall/core';
import { forkSession } from '@lastcall/core/internal';
import { CountedMessages } from './estimate-tokens.ts';
import { fromFirstRow, type StoredRecord, type TranscriptRow, toRecord } from './load-consciousness.ts';
import { recordsAfter, restoreSession, type SessionHost, type SessionState } from './restore-session.ts';
import { SentMessages } from './sent-messages.ts';

/**
 * What a thread remembers, read from its rows once and kept up from one cycle to the next, so that a cycle costs the same however
 * many came before.
 *
 *     rows        r1 … r6 ──────────────┬─ r7 … r12 ─────┬─ …     as they are stored
 *                    │ read once        │ read once      │
 *     history     ───▶ h ───────────────▶ h ─────────────▶ h       knows stored rows only
 *                      │ fork           │ fork           │ fork
 *     cycle            ▼ 1              ▼ 2              ▼ 3       adds what happens, and is thrown away
 *
 * 1. It knows stored rows only. What a cycle adds to its fork comes here when it is stored, as it was stored.
 * 2. It reads each row once. Rows that are not its own with new ones behind them have another history: `historyOf`.
 * 3. What it shares with forks is frozen: no tool and no model can change what a later cycle remembers.
 * 4. A row that cannot be read is an error now and each time again. It is never left out.
 */
export class History {
  readonly #transcript = new Transcript();
  readonly #records: StoredRecord[] = [];
  readonly #frames = new Set<string>();
  /** What the model was last sent of these messages. */
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

  /** True if the rows are those that were read, maybe with new ones behind them. */
  isOf(rows: readonly TranscriptRow[]): boolean {
    return this.#length > 0 && rows[this.#length - 1] === this.#last;
  }

  /** The transcript for one cycle. */
  fork(): Transcript {
    // Derived here, so that forks need not: a cycle asks for the messages of one provider, mostly the same.
    if (this.#provider !== undefined) this.#transcript.viewFor(this.#provider);
    const forked = this.#transcript.fork();
    this.#counted = this.#counted.next(forked.view());
    return forked;
  }

  /** The provider whose model is asked. The next fork will have its messages. */
  shownTo(provider: string): void {
    this.#provider = provider;
  }

  /** The session as the last cycle left it, for one cycle. `state` is a snapshot that was taken at some row. */
  session(state: SessionState | undefined, host: SessionHost = {}): Session {
    // A rewind goes back to a checkpoint, which may be records before the new ones.
    if (this.#hasCheckpoint) return restoreSession({ state, records: this.#records, host });
    try {
      this.#session ??= { session: restoreSession({ state, records: [] }), replayed: 0 };
      const { session, replayed } = this.#session;
      this.#session.replayed = this.#records.length;
      replay(session, recordsAfter(state, this.#records.slice(replayed)));
      return forkSession(session, { logger: host.logger, otherwiseFilesystem: host.filesystem });
    } catch (error) {
      this.#session = undefined;
      throw error;
    }
  }

  /** How large the rows are. Those that were read are not read again for it. */
  charactersOf(rows: readonly TranscriptRow[]): number {
    return rows.slice(this.#length).reduce((sum, { payload }) => sum + payload.length, this.#characters);
  }

  /** How many entries a fork begins with. */
  get entries(): number {
    return this.#transcript.entries.length;
  }

  /** The size of what the last fork began with. */
  get counted(): CountedMessages {
    return this.#counted;
  }

  /** True for a text of an inbox or a summary, which the gateway itself wrote. */
  hasFrame(text: string): boolean {
    return this.#frames.has(text);
  }

  #add(row: TranscriptRow): void {
    const carried = this.#length === 0 ? fromFirstRow(row) : undefined;
    const record = carried === undefined ? toRecord(row) : undefined;
    const entries = carried ?? (record === undefined ? [] : [record.entry]);
    this.#transcript.push(...entries);
    if (record !== undefined) this.#records.push(record);
    for (const text of framesIn(entries)) this.#frames.add(text);
    this.#hasCheckpoint ||= record?.entry.kind === 'checkpoint';
    this.#characters += row.payload.length;
    this.#last = row;
  }
}

/** The frames of a transcript are its users' messages, which are written outside of any turn. */
export function framesIn(entries: readonly Entry[]): readonly string[] {
  return entries.flatMap((entry) =>
    entry.kind === 'message' && entry.message.role === 'user'
      ? entry.message.content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
      : [],
  );
}

const histories = new WeakMap<TranscriptRow, History>();

/** How large the rows are. */
export function charactersOf(rows: readonly TranscriptRow[]): number {
  return (knownHistory(rows) ?? new History()).charactersOf(rows);
}

/**
 * The history of these rows. It is known by its first row: rows that are cached are the same objects in each cycle, and the history
 * goes with them.
 */
export function historyOf(rows: readonly TranscriptRow[]): History {
  const history = knownHistory(rows) ?? new History();
  const [first] = rows;
  if (first !== undefined) histories.set(first, history);
  history.read(rows);
  return history;
}

function knownHistory(rows: readonly TranscriptRow[]): History | undefined {
  const [first] = rows;
  const known = first === undefined ? undefined : histories.get(first);
  return known?.isOf(rows) === true ? known : undefined;
}
