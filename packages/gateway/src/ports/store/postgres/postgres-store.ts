import { setTimeout as sleep } from 'node:timers/promises';
import { type DatabaseConnection, Kysely, PostgresDialect, sql } from 'kysely';
import type { Pool } from 'pg';
import { kyselyOn } from '../kysely-on.ts';
import {
  assertOutsideTransaction,
  type BegunTransaction,
  runTransaction,
  type TransactionSource,
} from '../run-transaction.ts';
import { migrate } from '../schema/migrate.ts';
import type { Tables } from '../schema/tables.ts';
import type { GroupOptions, Store, Tx } from '../store.ts';
import { StoreRefused, StoreUnavailable } from '../store-error.ts';
import { DEFAULT_PARTS, type StoreParts } from '../store-parts.ts';
import { BatchingDriver, postgresDialect } from './postgres-driver.ts';
import { assertAnyText } from './postgres-encoding.ts';
import { codeOf, isStaleStatement, toStoreError } from './postgres-error.ts';
import { GROUP_CONNECTIONS, PostgresGroups } from './postgres-groups.ts';
import { toOpenError } from './postgres-open-error.ts';
import { createMigrationPool, createPooledPool, createStorePool } from './postgres-pool.ts';
import { assertPoolerFits } from './postgres-pooler.ts';
import { reclaimPostgres } from './postgres-reclaim.ts';
import { GROUP_SETTINGS, type SessionSettings, STORE_SETTINGS } from './postgres-session.ts';
import { Turns } from './turns.ts';

export interface PostgresOptions {
  readonly url: string;
  /**
   * The address of the server itself, if a pooler in transaction mode answers at `url`. Migrations and VACUUM go there, because they need a
   * session.
   */
  readonly directUrl?: string | undefined;
  /** How many connections it opens at most. Up to four of them, and no more than half, are for groups. Default 10. */
  readonly connections?: number;
}

/** The store on PostgreSQL, for one gateway or several. */
export async function openPostgresStore(
  { url, directUrl, connections = 10 }: PostgresOptions,
  parts: StoreParts = DEFAULT_PARTS,
): Promise<Store> {
  // If there is only one connection, all transactions use it without groups.
  const forGroups = Math.min(GROUP_CONNECTIONS, Math.floor(connections / 2));
  const { pool, driver } = openDriver(
    { url, directUrl, connections: Math.max(1, connections - forGroups) },
    STORE_SETTINGS,
  );
  const dialect = postgresDialect(driver);
  const db = new Kysely<Tables>({ dialect });
  const clock = new DatabaseClock();
  const on = kyselyOn(db, { dialect, driver });
  const source: TransactionSource = {
    dialect: 'postgres',
    now: () => clock.now(),
    abortsOnError: true,
    parts,
    open: (options) => begin(driver, on, options),
  };
  const { driver: groupDriver } = openDriver({ url, directUrl, connections: forGroups }, GROUP_SETTINGS);
  const groups = new PostgresGroups(groupDriver, { db, on: kyselyOn(db, { dialect, driver: groupDriver }) });
  const turns = new Turns();
  try {
    await prepareDatabase(url, directUrl);
    await clock.ask(db);
  } catch (error) {
    await groupDriver.destroy();
    await db.destroy();
    throw error;
  }
  return {
    dialect: 'postgres',
    db,
    // With more, more messages are handled per second, and an idle agent waits longer: decision 0019 has the figures.
    claimsAtOnce: 32,
    rowsAtOnce: 500,
    get isBusy() {
      return groups.isBusy || pool.totalCount - pool.idleCount >= BUSY_AT;
    },
    async transaction(work, { group, ...options } = {}) {
      const alone = (): ReturnType<typeof work> =>
        tryAgain((onDoubt) => runTransaction(source, work, { ...options, onDoubt }));
      if (group === undefined || forGroups === 0) return await alone();
      const together = (): ReturnType<typeof work> => inGroup({ source, groups, group }, work, alone);
      if (group.turn === undefined) return await together();
      // A transaction inside of another one would wait for itself.
      assertOutsideTransaction();
      return await turns.take(group.turn, together);
    },
    reclaim: (tables, keep) => reclaimPostgres(directUrl ?? url, tables, keep),
    ping: () => clock.ask(db),
    async close() {
      await groupDriver.destroy();
      await db.destroy();
    },
  };
}

interface OpenedDriver {
  readonly pool: Pool;
  readonly driver: BatchingDriver;
}

function openDriver(
  { url, directUrl, connections }: Required<PostgresOptions>,
  settings: SessionSettings,
): OpenedDriver {
  const isPooled = directUrl !== undefined;
  const pool = isPooled ? createPooledPool(url, connections) : createStorePool(url, connections, settings);
  return { pool, driver: isPooled ? new BatchingDriver(pool, settings) : new BatchingDriver(pool) };
}

/** Prepares the database, on a connection of our own to the server. */
async function prepareDatabase(url: string, directUrl: string | undefined): Promise<void> {
  try {
    await assertPoolerFits(url, directUrl);
    await migrateOn(directUrl ?? url);
  } catch (error) {
    const converted = toStoreError(error);
    throw directUrl === undefined ? converted : toOpenError(converted, directUrl, 'DATABASE_DIRECT_URL');
  }
}

/**
 * Migrates on a separate connection: the store's connections write only in transactions, and Kysely creates the table
 * of migrations outside of one.
 */
async function migrateOn(url: string): Promise<void> {
  const pool = createMigrationPool(url);
  try {
    await assertAnyText(pool);
    await migrateBesideOthers(new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }));
  } finally {
    await pool.end();
  }
}

/**
 * An upgrade changes tables that gateways of the version before are using, so it meets their locks, and those of backups. It is one
 * transaction: what a conflict undoes is done again. In the pauses the others get what they waited for.
 */
async function migrateBesideOthers(db: Kysely<Tables>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await migrate(db, 'postgres');
    } catch (error) {
      if (!CONFLICTS.has(codeOf((error as Error).cause))) throw error;
      if (tries === MIGRATION_TRIES)
        throw new StoreRefused(
          'The database could not be brought up to date: its tables are locked, perhaps by a backup or by a session with an open transaction (see pg_locks). Nothing was changed. End that, or wait, and start again.',
          { cause: error },
        );
      await sleep(Math.min(tries * 500, 5_000));
    }
  }
}

/** About four minutes. */
const MIGRATION_TRIES = 40;

/** This many concurrent transactions keep a database busy. The remaining connections are for urgent ones. */
const BUSY_AT = 5;

async function begin(
  driver: BatchingDriver,
  on: (connection: DatabaseConnection) => Kysely<Tables>,
  options: { readonly isUrgent: boolean },
): Promise<BegunTransaction> {
  const connection = await driver.lend(options);
  // BEGIN is sent with the first statements. If it fails, they are skipped.
  const begun = driver.beginTransaction(connection);
  return {
    connection,
    begun,
    on,
    commit: () => driver.commitTransaction(connection),
    rollback: () => driver.rollbackTransaction(connection),
    close: () => driver.releaseConnection(connection),
  };
}

/**
 * An estimate of the database's clock. It is read now and then, because reading it in every transaction would cost a round trip. Leases
 * only need gateways to agree within a fraction of a second. In between, the time is that of a clock that is never set: if `Date.now` were
 * used, a gateway whose clock is corrected by an hour would take over all runs of the others, or write leases that never end.
 */
class DatabaseClock {
  #ahead = Date.now() - performance.now();

  now(): number {
    return Math.round(performance.now() + this.#ahead);
  }

  /** Uses an open connection, so that the time to connect is not counted as the age of the answer. */
  async ask(db: Kysely<Tables>): Promise<void> {
    await db.connection().execute(async (connected) => {
      const asked = performance.now();
      const { rows } = await sql<{
        now: number;
      }>`select (extract(epoch from clock_timestamp()) * 1000)::bigint as now`.execute(connected);
      if (rows[0] !== undefined) this.#learn(rows[0].now, { asked, answered: performance.now() });
    });
  }

  /**
   * The database answered at some moment between the two times. If the estimate fits one of them, it is kept: a busy
   * process reads answers late, and would set its clock back.
   */
  #learn(now: number, { asked, answered }: { asked: number; answered: number }): void {
    const isRight = asked + this.#ahead <= now + 1 && now - 1 <= answered + this.#ahead;
    if (!isRight) this.#ahead = now - (asked + answered) / 2;
  }
}

/** Serialization failure, deadlock, lock timeout: another transaction was in the way, and a retry may succeed. */
const CONFLICTS: ReadonlySet<string> = new Set(['40001', '40P01', '55P03']);
const TRIES = 5;

async function tryAgain<T>(run: (onDoubt: () => void) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    let inDoubt = false;
    try {
      return await run(() => {
        inDoubt = true;
      });
    } catch (error) {
      // The connection's statements are prepared again.
      if (isStaleStatement(error) && tries < TRIES) continue;
      if (!CONFLICTS.has(codeOf(error))) throw inDoubt ? doubted(error) : error;
      // All attempts met a conflict. The request itself is valid and may succeed later.
      if (tries === TRIES) throw new StoreUnavailable(error);
    }
  }
}

interface GroupPlace {
  readonly source: TransactionSource;
  readonly groups: PostgresGroups;
  readonly group: GroupOptions;
}

/** Runs a transaction in a group, or alone if the group was undone for any reason. */
async function inGroup<T>(
  { source, groups, group }: GroupPlace,
  work: (tx: Tx) => Promise<T>,
  alone: () => Promise<T>,
): Promise<T> {
  let inDoubt = false;
  const onDoubt = (): void => {
    inDoubt = true;
  };
  try {
    return await runTransaction({ ...source, open: () => groups.open(group) }, work, { onDoubt });
  } catch (error) {
    if (inDoubt) throw doubted(error);
  }
  return await alone();
}

/** The commit had been sent when the connection broke, so its outcome is unknown. */
function doubted(error: unknown): unknown {
  return error instanceof StoreUnavailable ? new StoreUnavailable(error.cause, { inDoubt: true }) : error;
}
