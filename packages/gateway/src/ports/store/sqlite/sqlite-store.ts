import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, sql } from 'kysely';
import { kyselyOn, runOn } from '../kysely-on.ts';
import { addAssertFound } from '../require-row.ts';
import { runTransaction, type TransactionSource } from '../run-transaction.ts';
import { migrate } from '../schema/migrate.ts';
import type { Tables } from '../schema/tables.ts';
import type { Store } from '../store.ts';
import { StoreRefused } from '../store-error.ts';
import { DEFAULT_PARTS, type StoreParts } from '../store-parts.ts';
import { LogSync, openLog } from './log-sync.ts';
import { makePrivateDatabase, makePrivateFolder } from './private-folder.ts';
import { SqliteDriver, sqliteDialect } from './sqlite-driver.ts';
import { fullAtStart, reportFull } from './sqlite-error.ts';
import { assertDatabase, assertOwnDatabase } from './sqlite-file.ts';
import { SqliteTransactions } from './sqlite-transactions.ts';

export interface SqliteOptions {
  /** The folder that holds the database. Created if it does not exist, and readable by its owner only. */
  readonly home: string;
  /** FULL survives a power cut; NORMAL survives the death of the process. Default FULL. */
  readonly synchronous?: 'FULL' | 'NORMAL';
  /** How long queued transactions run one after the other before the process may do something else. Default 8. */
  readonly sliceMs?: number | undefined;
  /** Called once, if a write does not reach the disk: the store refuses everything from then on. */
  readonly onLost?: ((error: Error) => void) | undefined;
  /** Called at most once a minute while the disk is full. Everything that writes waits until there is room. */
  readonly onFull?: ((error: unknown) => void) | undefined;
}

/**
 * SQLite's defaults are for small programs: it keeps 2 MB of pages in memory, writes the undo data of savepoints to a
 * file, and copies the log into the database every 4 MB. With many agents at work, this would double the number of
 * writes.
 */
const FEWER_WRITES = `pragma cache_size = -${64 * 1024}; pragma temp_store = memory; pragma wal_autocheckpoint = 4000;`;

/** Deleted and replaced texts are overwritten with zeros, so that an erasure leaves nothing in the file: decision 0049 has the cost. */
const SECURE_DELETE = 'pragma secure_delete = on;';

/** The embedded store: one file, used by one process. */
export async function openSqliteStore(
  { home, synchronous = 'FULL', sliceMs, onLost, onFull = () => {} }: SqliteOptions,
  parts: StoreParts = DEFAULT_PARTS,
): Promise<Store> {
  makePrivateFolder(home);
  const lock = lockHome(home);
  try {
    const database = openDatabase(home);
    return await openStore({
      database,
      lock,
      sliceMs,
      parts,
      onLost,
      onFull,
      syncedLog: synchronous === 'FULL' ? logOf(home) : undefined,
    });
  } catch (error) {
    // Without this, the next start would find the folder in use.
    lock.close();
    throw fullAtStart(home, error) ?? error;
  }
}

/** SQLite's write-ahead log. The file exists while the database is open. */
const logOf = (home: string): string => join(home, 'lastcall.db-wal');

function openDatabase(home: string): DatabaseSync {
  assertOwnDatabase(join(home, 'lastcall.db'));
  const database = new DatabaseSync(makePrivateDatabase(home, 'lastcall.db'));
  // With `normal`, SQLite syncs the log before it copies it into the database, and the database afterwards. LogSync syncs commits.
  database.exec(
    `pragma journal_mode = wal; pragma synchronous = normal; pragma checkpoint_fullfsync = on; pragma foreign_keys = on; ${SECURE_DELETE} ${FEWER_WRITES}`,
  );
  // After a failed sync or a crash, what is read from the log may be in the system's memory alone. Copying it writes it again.
  database.exec('pragma wal_checkpoint(truncate)');
  addAssertFound(database);
  return database;
}

interface OpenedFiles extends Pick<SqliteOptions, 'sliceMs' | 'onLost'> {
  readonly onFull: (error: unknown) => void;
  readonly database: DatabaseSync;
  readonly lock: DatabaseSync;
  readonly parts: StoreParts;
  /** The log's file, if commits have to survive a power cut. */
  readonly syncedLog: string | undefined;
}

async function openStore({ database, lock, sliceMs, onLost, onFull, parts, syncedLog }: OpenedFiles): Promise<Store> {
  const driver = new SqliteDriver(database, { sliceMs, toError: reportFull(onFull) });
  const dialect = sqliteDialect(driver);
  const db = new Kysely<Tables>({ dialect });
  let logFile: FileHandle | undefined;
  try {
    await migrate(db, 'sqlite');
    // SQLite has created the log, because it creates it before it reads.
    logFile = syncedLog === undefined ? undefined : await openLog(database, syncedLog);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  runOn(db, {
    executeQuery: (query) => driver.executeAlone(query),
    streamQuery: () => driver.connection.streamQuery(),
  });
  await releaseAllLeases(db);
  if (logFile !== undefined) driver.log = new LogSync(database, { write: () => logFile.datasync(), onLost });
  const transactions = new SqliteTransactions(database, driver, kyselyOn(db, { dialect, driver }));
  const source: TransactionSource = {
    dialect: 'sqlite',
    now: Date.now,
    abortsOnError: false,
    parts,
    open: (options) => transactions.open(options),
  };
  return {
    dialect: 'sqlite',
    db,
    transaction: (work, options) => runTransaction(source, work, options),
    claimsAtOnce: 8,
    // They are changed in this process, which does nothing else meanwhile.
    rowsAtOnce: 100,
    get isBusy() {
      return driver.waiting >= MOST_WAITING;
    },
    get isLost() {
      return driver.log?.lost !== undefined;
    },
    reclaim: () => reclaim(database, driver),
    async ping() {
      await sql`select 1`.execute(db);
    },
    async close() {
      await driver.log?.close();
      // SQLite deletes the log when it closes the database.
      await logFile?.close();
      await db.destroy();
      lock.close();
    },
  };
}

/** We have the lock, so every worker that held a thread is dead, and its leases will not be renewed. */
async function releaseAllLeases(db: Kysely<Tables>): Promise<void> {
  await db
    .updateTable('threads')
    .set({ lease_owner: null, lease_until: 0 })
    // This scans all threads, once per start of the process. An index on the owner would be written with each claim.
    .where('lease_owner', 'is not', null)
    .execute();
}

/** Writes the log into the database and empties it: until then it holds old rows. A program that reads the database delays this. */
async function reclaim(database: DatabaseSync, driver: SqliteDriver): Promise<void> {
  for (let tries = 0; tries < CHECKPOINT_TRIES; tries++) {
    await driver.turn({ isMember: false, isUrgent: false });
    try {
      const done = database.prepare('pragma wal_checkpoint(truncate)').get() as { readonly busy: number } | undefined;
      if (done?.busy === 0) return;
    } finally {
      driver.pass();
    }
    await sleep(CHECKPOINT_RETRY_MS);
  }
  throw new StoreRefused('Another program reads the database, so its log cannot be emptied. Close that program.');
}

const CHECKPOINT_TRIES = 20;
const CHECKPOINT_RETRY_MS = 250;

/** Enough to be committed together, and few enough that the next one does not wait too long. */
const MOST_WAITING = 8;

/**
 * The lock is held until the process ends. If the process is killed, the operating system releases it. It is in a
 * separate file, so that other programs can still read the database.
 */
function lockHome(home: string): DatabaseSync {
  assertDatabase(join(home, 'lock.db'));
  const lock = new DatabaseSync(makePrivateDatabase(home, 'lock.db'));
  try {
    lock.exec('pragma busy_timeout = 0; begin exclusive');
    return lock;
  } catch (cause) {
    lock.close();
    const full = fullAtStart(home, cause);
    if (full !== undefined) throw full;
    throw new StoreRefused(
      `Another gateway uses the database in "${home}". Stop it, set LASTCALL_HOME to another folder, or set DATABASE_URL to a PostgreSQL database, which several gateways can share.`,
      { cause },
    );
  }
}
