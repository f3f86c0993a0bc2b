import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient, sql } from 'kysely';
import { Pool, types } from 'pg';
import { migrate } from './migrate.ts';
import { assertOutsideTransaction, runTransaction } from './run-transaction.ts';
import type { Store } from './store.ts';
import { StoreUnavailable } from './store-error.ts';
import type { Tables } from './tables.ts';

export interface PostgresOptions {
  readonly url: string;
  /** Default 20. */
  readonly connections?: number;
}

/** The scaled store, for one gateway or several. */
export async function openPostgresStore({ url, connections = 20 }: PostgresOptions): Promise<Store> {
  const pool = createPool(url, connections);
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: guarded(pool) }) });
  const clock = new DatabaseClock();
  try {
    await migrate(db, 'postgres');
    await clock.ask(db);
  } catch (error) {
    await db.destroy();
    throw toStoreError(error);
  }
  return {
    dialect: 'postgres',
    db,
    transaction: (work) =>
      tryAgain((onCommit) => runTransaction(db, { dialect: 'postgres', now: () => clock.now(), onCommit }, work)),
    async ping() {
      try {
        await clock.ask(db);
      } catch (error) {
        throw toStoreError(error);
      }
    },
    close: () => db.destroy(),
  };
}

/** Times and counts are whole numbers far below 2^53; PostgreSQL's driver gives int8 as text unless it is told. */
const INT8 = 20;

export function createPool(url: string, connections: number): Pool {
  const pool = new Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: 5_000,
    // A worker that stalls inside a transaction holds its thread's row: the server ends it, so that another can take over.
    idle_in_transaction_session_timeout: 2_500,
    lock_timeout: 5_000,
    statement_timeout: 15_000,
    types: {
      getTypeParser: (id, format) =>
        id === INT8 ? (text: string) => Number(text) : types.getTypeParser(id, format as 'text'),
    },
  });
  // A connection that dies while idle is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => {});
  // So would one that dies while it is lent out and no statement runs. Whoever has it learns of it with the next one.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

function guarded(pool: Pool): PostgresPool {
  return {
    options: pool.options,
    async connect() {
      assertOutsideTransaction();
      return (await pool.connect()) as unknown as PostgresPoolClient;
    },
    end: () => pool.end(),
  };
}

/**
 * The database's clock as far as we know it: asked once, then counted on with our own, because to ask costs a round trip in every
 * transaction. Leases only need gateways to agree within a fraction of a second.
 */
class DatabaseClock {
  #ahead = 0;

  now(): number {
    return Date.now() + this.#ahead;
  }

  async ask(db: Kysely<Tables>): Promise<void> {
    const asked = Date.now();
    const { rows } = await sql<{
      now: number;
    }>`select (extract(epoch from clock_timestamp()) * 1000)::bigint as now`.execute(db);
    const answered = Date.now();
    if (rows[0] !== undefined) this.#ahead = Math.round(rows[0].now - (asked + answered) / 2);
  }
}

/** Serialization failure, deadlock, a lock not had in time: another transaction was in the way, and the next try finds it gone. */
const CONFLICTS: ReadonlySet<string> = new Set(['40001', '40P01', '55P03']);
const TRIES = 5;

async function tryAgain<T>(run: (onCommit: () => void) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    let inDoubt = false;
    try {
      return await run(() => {
        inDoubt = true;
      });
    } catch (error) {
      if (!CONFLICTS.has(codeOf(error)) || tries === TRIES) throw toStoreError(error, { inDoubt });
    }
  }
}

/** Classes 08 (connection), 53 (resources), 57 (operator intervention, e.g. a restart); and what the socket itself says. */
const GONE: RegExp = /^(08|53|57)|^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|25P0)/;
const GONE_MESSAGE: RegExp =
  /connection terminated|timeout exceeded when trying to connect|client has encountered a connection error|not queryable/i;

function toStoreError(error: unknown, { inDoubt = false }: { inDoubt?: boolean } = {}): unknown {
  const message = error instanceof Error ? error.message : '';
  return GONE.test(codeOf(error)) || GONE_MESSAGE.test(message) ? new StoreUnavailable(error, { inDoubt }) : error;
}

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}
