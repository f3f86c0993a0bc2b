import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { DEFAULT_MIGRATION_TABLE } from 'kysely/migration';
import { FIRST_MIGRATION } from '../schema/migrate.ts';
import { StoreRefused } from '../store-error.ts';

/** The first bytes of every SQLite database. */
const HEADER = 'SQLite format 3\0';

/**
 * Refuses a database that Lastcall did not make, before anything in it is changed. SQLite would open it, and the
 * migrations would add tables to another program's database.
 */
export function assertOwnDatabase(file: string): void {
  if (assertDatabase(file) === 'used' && !isOwn(file)) throw refusal(file, 'is a database of another program.');
}

/** Refuses a file that SQLite cannot open. A file that does not exist or is empty becomes a database. */
export function assertDatabase(file: string): 'new' | 'used' {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return 'new';
  if (!stats.isFile()) throw refusal(file, 'is not a file.');
  if (stats.size === 0) return 'new';
  if (!beginsLikeDatabase(file)) throw refusal(file, 'is not a SQLite database.');
  return 'used';
}

function beginsLikeDatabase(file: string): boolean {
  const descriptor = openSync(file, 'r');
  try {
    const start = Buffer.alloc(HEADER.length);
    readSync(descriptor, start);
    return start.toString('latin1') === HEADER;
  } finally {
    closeSync(descriptor);
  }
}

/** True if Lastcall made the tables, or there are none yet. */
function isOwn(file: string): boolean {
  try {
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      const tables = database.prepare("select name from sqlite_master where type = 'table'").all();
      if (tables.length === 0) return true;
      if (!tables.some(({ name }) => name === DEFAULT_MIGRATION_TABLE)) return false;
      const names = database
        .prepare(`select name from ${DEFAULT_MIGRATION_TABLE}`)
        .all()
        .map(({ name }) => name);
      return names.length === 0 || names.includes(FIRST_MIGRATION);
    } finally {
      database.close();
    }
  } catch (cause) {
    const message = `"${file}" cannot be read (${(cause as Error).message}). Restore a backup, or set LASTCALL_HOME to another folder.`;
    throw new StoreRefused(message, { cause });
  }
}

function refusal(file: string, what: string): StoreRefused {
  return new StoreRefused(`"${file}" ${what} Move it away, or set LASTCALL_HOME to another folder.`);
}
