import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { LastcallError } from '../errors.ts';

/** A database of records, open. */
export interface JournalFile {
  /** As error messages name it. */
  readonly name: string;
  readonly database: DatabaseSync;
  /** DatabaseSync can say this itself only since Node 22.15. */
  isOpen: boolean;
  /** Runs `work` in one transaction that is on disk when this returns. If it throws, nothing was written. */
  transaction<T>(work: () => T): T;
}

/** In the header of the file, so that no other program's database is mistaken for a journal: "LCJR". */
const APPLICATION_ID = 0x4c_43_4a_52;
const FORMAT = 1;
const IN_MEMORY = ':memory:';

/** How long a write waits for another process that is writing to the same file. A write takes milliseconds. */
const BUSY_TIMEOUT_MS = 5_000;

// `id` is never used twice, so the last id of a thread tells whether the thread is still the one that a writer knows, even if
// it was deleted and written anew meanwhile. `seq` has no gaps, so that a missing record is found.
const TABLES = `
  create table records (
    id integer primary key autoincrement,
    thread text not null,
    seq integer not null,
    entry text not null,
    staged text,
    unique (thread, seq)
  ) strict;
`;

export function openJournalFile(path: string): JournalFile {
  const { DatabaseSync } = requireSqlite();
  // Resolved, so that a later change of the working directory does not matter and "file:" is not read as a URI.
  const name = path === IN_MEMORY ? path : resolve(path);
  const folder = dirname(name);
  if (path !== IN_MEMORY && !existsSync(folder)) throw unusable(name, `its folder does not exist. Create "${folder}".`);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(name);
    const file = toFile(name, database);
    prepare(file);
    return file;
  } catch (error) {
    database?.close();
    if (error instanceof LastcallError) throw error;
    throw unusable(name, `SQLite says: ${messageOf(error)}.`, error);
  }
}

/** Loaded when it is needed: an import at the top would fail on an older Node with an error that does not say what to do. */
function requireSqlite(): typeof import('node:sqlite') {
  const sqlite = process.getBuiltinModule?.('node:sqlite');
  if (sqlite !== undefined) return sqlite;
  throw new LastcallError(
    'journal_unsupported',
    `sqliteJournal needs node:sqlite, which Node has since 22.13, and this is Node ${process.versions.node}. Upgrade Node, or give runTurn a journal of your own.`,
  );
}

function prepare(file: JournalFile): void {
  const { database, name } = file;
  database.exec(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`);
  // First of all, because the other settings change the file, and it may not be ours.
  if (!isReady(file)) {
    file.transaction(() => {
      // Another process may have created the tables since.
      if (isReady(file)) return;
      database.exec(`${TABLES} pragma application_id = ${APPLICATION_ID}; pragma user_version = ${FORMAT};`);
    });
  }
  if (name !== IN_MEMORY) useWriteAheadLog(database);
  // FULL waits for the disk at each commit. On macOS only fullfsync reaches the disk itself.
  database.exec('pragma synchronous = full; pragma fullfsync = on; pragma checkpoint_fullfsync = on;');
}

/** False for a new file. Throws for a file that is not a journal of this version. */
function isReady({ database, name }: JournalFile): boolean {
  // In one statement, because another process may create the tables between two.
  const header = database.prepare(`
    select (select application_id from pragma_application_id) as application,
      (select user_version from pragma_user_version) as format,
      (select count(*) from sqlite_schema) as tables
  `);
  const { application, format, tables } = header.get() as { application: number; format: number; tables: number };
  if (application !== APPLICATION_ID) {
    if (format === 0 && tables === 0) return false;
    throw unusable(name, 'it is a database of another program. Give the journal another file.');
  }
  if (format > FORMAT)
    throw unusable(name, `it has format ${format}, and this version reads ${FORMAT}. Use a newer @lastcall/core.`);
  return true;
}

/** The change to a write-ahead log does not wait for other processes that open the file at the same moment. */
function useWriteAheadLog(database: DatabaseSync): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let triesLeft = BUSY_TIMEOUT_MS / PAUSE_MS; ; triesLeft--) {
    try {
      database.exec('pragma journal_mode = wal');
      return;
    } catch (error) {
      if (triesLeft <= 0 || !messageOf(error).includes('locked')) throw error;
      Atomics.wait(pause, 0, 0, PAUSE_MS);
    }
  }
}

const PAUSE_MS = 10;

function toFile(name: string, database: DatabaseSync): JournalFile {
  return {
    name,
    database,
    isOpen: true,
    transaction(work) {
      // Locks out other writers from the start, so that what it reads is still true when it writes.
      database.exec('begin immediate');
      try {
        const result = work();
        database.exec('commit');
        return result;
      } catch (error) {
        rollBack(database);
        throw error;
      }
    },
  };
}

/** After some errors SQLite has rolled back by itself, and refuses to do it again. */
function rollBack(database: DatabaseSync): void {
  try {
    database.exec('rollback');
  } catch {}
}

function unusable(name: string, problem: string, cause?: unknown): LastcallError {
  return new LastcallError('journal_file', `The journal "${name}" cannot be opened: ${problem}`, { cause });
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
