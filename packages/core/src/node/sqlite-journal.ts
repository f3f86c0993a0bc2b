/**
 * A journal in a SQLite file, for many threads. A thread is one conversation: the records of its turns, in order.
 *
 * 1. What `append` or `settle` has accepted survives the end of the process and a power cut.
 * 2. The entries of one `append` are stored together or not at all; so are the entry and the changes of a `settle`.
 * 3. A thread has one history. Each `thread(id)` continues the thread as it was when it was opened. If another writer, in
 *    this process or another, has changed the thread since, its writes reject with `journal_conflict` and change nothing.
 *    So of two writers, the one that writes first continues, and the other is refused. Reading a thread refuses no writer.
 * 4. After a write that was refused or failed, the same `thread(id)` accepts no more, because later changes build on it.
 * 5. `records()` returns what this `thread(id)` found and wrote, and not what others have written since.
 * 6. Entries and changes are stored whole: fields and kinds that this version does not know are kept.
 * 7. A damaged record makes `records()` of its thread throw `journal_damaged`, which names both. Other threads go on.
 * 8. A write is on disk when its call returns, so `close()` has nothing to wait for. Later writes reject with `journal_closed`.
 * 9. `delete(id)` deletes the records of a thread. Writers that had it open are refused as in 3.
 * 10. A file of a newer format or of another program is refused with `journal_file`, and not changed.
 *     Without node:sqlite, which Node has since 22.13, `sqliteJournal` throws `journal_unsupported`.
 */
import { LastcallError, OptionsError, StoredTranscriptError } from '../errors.ts';
import { parseJson } from '../parse-json.ts';
import type { Entry } from '../transcript/entry.ts';
import type { Journal, Staged } from '../transcript/journal.ts';
import { fromEntryJson, toPlainValue, toTranscriptJson } from '../transcript/transcript-json.ts';
import type { JournalRecord } from '../turn/replay.ts';
import { assertKnownOptions, knownNames } from '../unknown-option.ts';
import { type JournalFile, messageOf, openJournalFile } from './journal-file.ts';

export interface SqliteJournal {
  /** Opens a thread to read it and to write to it. A thread that does not exist has no records yet. */
  thread(id: string): JournalThread;
  /** The ids of all threads that have records, sorted. */
  threads(): string[];
  /** Deletes a thread with its records. */
  delete(id: string): void;
  /** Closes the file, and all threads that were opened from it. */
  close(): void;
}

export interface JournalThread {
  /** For `runTurn`. Each write blocks the process until it is on disk. */
  readonly journal: Journal;
  /** All records in order, for `replay` and, as entries, for a `Transcript`. */
  records(): JournalRecord[];
  /** Refuses further writes. The file stays open for other threads. */
  close(): void;
}

/** A durable journal: opens the SQLite file at `path`, or creates it. With `':memory:'` it lasts until it is closed. */
export function sqliteJournal(options: { path: string }): SqliteJournal {
  assertKnownOptions(options, OPTIONS);
  const path: unknown = options?.path;
  if (typeof path !== 'string' || path.trim() === '') throw new OptionsError('path', 'must be the path of a file.');
  const file = openJournalFile(path);
  const { database } = file;
  const assertOpen = (): void => {
    if (!file.isOpen) throw closed(`The journal "${file.name}"`);
  };
  return {
    thread(id) {
      assertOpen();
      return openThread(file, checkedId(id));
    },
    threads() {
      assertOpen();
      const rows = database.prepare('select distinct thread from records order by thread').all();
      return rows.map(({ thread }) => String(thread));
    },
    delete(id) {
      assertOpen();
      file.transaction(() => database.prepare('delete from records where thread = ?').run(checkedId(id)));
    },
    close() {
      if (!file.isOpen) return;
      file.isOpen = false;
      database.close();
    },
  };
}

const OPTIONS = knownNames<{ path: string }>({ path: true });

/** SQLite stores UTF-8 and would make one id of two that differ only in broken characters. */
function checkedId(id: unknown): string {
  if (typeof id === 'string' && id !== '' && id.isWellFormed() && !id.includes('\0')) return id;
  throw new OptionsError('id', 'must be a text that is not empty and is valid Unicode without NUL.');
}

/** The last record of a thread. A thread without records has id 0. */
interface Position {
  readonly id: number;
  readonly seq: number;
}

function openThread(file: JournalFile, id: string): JournalThread {
  const { database } = file;
  const last = database.prepare('select id, seq from records where thread = ? order by seq desc limit 1');
  const insert = database.prepare('insert into records (thread, seq, entry, staged) values (?, ?, ?, ?)');
  const readPosition = (): Position => (last.get(id) as Position | undefined) ?? { id: 0, seq: 0 };
  let position = readPosition();
  let isClosed = false;
  let refusal: (() => LastcallError) | undefined;

  const write = async (records: readonly JournalRecord[]): Promise<void> => {
    assertOpen();
    if (refusal !== undefined) throw refusal();
    try {
      position = file.transaction(() => {
        if (readPosition().id !== position.id) throw conflict(file, id);
        return records.reduce(insertAfter, position);
      });
    } catch (error) {
      const isConflict = error instanceof LastcallError && error.code === 'journal_conflict';
      refusal = isConflict ? () => conflict(file, id) : () => stopped(file, id, error);
      throw refusal();
    }
  };
  const insertAfter = ({ seq }: Position, { entry, staged }: JournalRecord): Position => {
    const [plain] = toTranscriptJson([entry]).entries;
    const changes = staged === undefined ? null : JSON.stringify(toPlainValue(staged));
    const { lastInsertRowid } = insert.run(id, seq + 1, JSON.stringify(plain), changes);
    return { id: Number(lastInsertRowid), seq: seq + 1 };
  };
  const assertOpen = (): void => {
    if (isClosed || !file.isOpen) throw closed(`Thread "${id}" of the journal "${file.name}"`);
  };
  return {
    journal: {
      append: (entries) => write(entries.map((entry) => ({ entry }))),
      settle: (entry, staged) => write([{ entry, staged }]),
    },
    records() {
      assertOpen();
      return readRecords(file, id, position);
    },
    close() {
      isClosed = true;
    },
  };
}

function readRecords(file: JournalFile, thread: string, position: Position): JournalRecord[] {
  const records: JournalRecord[] = [];
  try {
    const rows = file.database
      .prepare('select seq, entry, staged from records where thread = ? and id <= ? order by seq')
      .iterate(thread, position.id);
    for (const { seq, entry, staged } of rows) {
      if (seq !== records.length + 1) throw new Error('it is missing');
      records.push(toRecord(String(entry), staged === null ? undefined : String(staged)));
    }
    if (records.length < position.seq) throw new Error('it is missing');
  } catch (error) {
    throw damaged(file, thread, records.length + 1, error);
  }
  return records;
}

function toRecord(entryJson: string, stagedJson: string | undefined): JournalRecord {
  const entry: Entry = fromEntryJson(parse(entryJson, 'its entry'));
  if (stagedJson === undefined) return { entry };
  const staged = parse(stagedJson, 'what it changed') as Staged | null;
  if (!Array.isArray(staged?.events)) throw new Error('what it changed has no list of events');
  return { entry, staged };
}

function parse(json: string, what: string): unknown {
  try {
    return parseJson(json);
  } catch (cause) {
    throw new Error(`${what} is not JSON`, { cause });
  }
}

function conflict(file: JournalFile, thread: string): LastcallError {
  return new LastcallError(
    'journal_conflict',
    `Nothing was written: another writer has changed thread "${thread}" of the journal "${file.name}" since it was opened here. Let one process run a thread at a time. To continue it here, open it again with thread(id) and resume from its records.`,
  );
}

function stopped(file: JournalFile, thread: string, cause: unknown): LastcallError {
  return new LastcallError(
    'journal_write',
    `A write to thread "${thread}" of the journal "${file.name}" failed: ${messageOf(cause)}. Nothing more is accepted here. Open the thread again with thread(id) and resume from its records.`,
    { cause },
  );
}

function damaged(file: JournalFile, thread: string, record: number, cause: unknown): LastcallError {
  const problem = cause instanceof StoredTranscriptError ? `${cause.path} ${cause.problem}` : `${messageOf(cause)}.`;
  return new LastcallError(
    'journal_damaged',
    `Record ${record} of thread "${thread}" in the journal "${file.name}" cannot be read: ${problem} Other threads are not affected. Restore the file from a backup, or delete the thread.`,
    { cause },
  );
}

function closed(what: string): LastcallError {
  return new LastcallError('journal_closed', `${what} is closed.`);
}
