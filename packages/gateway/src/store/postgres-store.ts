import type { Socket } from 'node:net';
import {
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresDriver,
  PostgresIntrospector,
  type PostgresPool,
  type PostgresPoolClient,
  PostgresQueryCompiler,
  sql,
  type TransactionSettings,
} from 'kysely';
import { Pool, type PoolClient, type PoolConfig, type QueryConfig, types } from 'pg';
import { boundTo } from './bound-to.ts';
import { migrate } from './migrate.ts';
import {
  assertOutsideTransaction,
  type BegunTransaction,
  runTransaction,
  type TransactionSource,
} from './run-transaction.ts';
import { nameOfStatement } from './statement.ts';
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
  const pool = createPool(url, connections, { pipeline: true });
  const driver = new PipelinedDriver({ pool: guarded(pool) });
  const dialect = postgresDialect(driver);
  const db = new Kysely<Tables>({ dialect });
  const clock = new DatabaseClock();
  const on = boundTo(db, { dialect, driver });
  const source: TransactionSource = {
    dialect: 'postgres',
    now: () => clock.now(),
    failsWhole: true,
    open: () => begin(driver, on),
  };
  try {
    await migrate(db, 'postgres');
    await clock.ask(db);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return {
    dialect: 'postgres',
    db,
    get isBusy() {
      return pool.waitingCount > 0 || (pool.totalCount - pool.idleCount >= LEAST_AT_ONCE && driver.isSlow);
    },
    transaction: (work, options) => tryAgain((onCommit) => runTransaction(source, work, { ...options, onCommit })),
    ping: () => clock.ask(db),
    close: () => db.destroy(),
  };
}

/** So many transactions side by side are not too many for any database. */
const LEAST_AT_ONCE = 2;

/** Times and counts are whole numbers far below 2^53; PostgreSQL's driver gives int8 as text unless it is told. */
const INT8 = 20;

export function createPool(url: string, connections: number, { pipeline = false }: { pipeline?: boolean } = {}): Pool {
  const config: PoolConfig & { pipeline: boolean } = {
    connectionString: url,
    max: connections,
    // Also for who waits because all are busy: they try again, and nothing is lost.
    connectionTimeoutMillis: 10_000,
    // Statements of one connection are sent without waiting for the answers of those before: see together.ts.
    pipeline,
    // A worker that stalls inside a transaction holds its thread's row: the server ends it, so that another can take over.
    idle_in_transaction_session_timeout: 2_500,
    lock_timeout: 5_000,
    statement_timeout: 15_000,
    types: {
      getTypeParser: (id, format) =>
        id === INT8 ? (text: string) => Number(text) : types.getTypeParser(id, format as 'text'),
    },
  };
  const pool = new Pool(config);
  // A connection that dies while idle is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => {});
  // So would one that dies while it is lent out and no statement runs. Whoever has it learns of it with the next one.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

async function begin(
  driver: Driver,
  on: (connection: DatabaseConnection) => Kysely<Tables>,
): Promise<BegunTransaction> {
  const connection = await driver.acquireConnection();
  await driver.beginTransaction(connection, {});
  return {
    db: on(connection),
    commit: () => driver.commitTransaction(connection),
    rollback: () => driver.rollbackTransaction(connection),
    close: () => driver.releaseConnection(connection),
  };
}

function postgresDialect(driver: Driver): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => driver,
    createIntrospector: (db: Kysely<unknown>) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

/**
 * The begin of a transaction travels with its first statement. It asks the database for nothing: how long its answer takes tells how
 * long everything waits, for the database's processors, for the way there, or for ours.
 */
class PipelinedDriver extends PostgresDriver {
  /** The shortest wait so far, and that of late, in milliseconds. */
  #shortest = Number.POSITIVE_INFINITY;
  #ofLate = 0;

  /** Whether what is under way waits for each other more than for anything else. */
  get isSlow(): boolean {
    return this.#ofLate > Math.max(SLOW_MS, SLOW_TIMES * this.#shortest);
  }

  override async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    const askedAt = performance.now();
    super.beginTransaction(connection, settings).then(
      () => this.#measure(performance.now() - askedAt),
      // It fails only where the connection does, and then so does everything after it.
      () => {},
    );
  }

  #measure(ms: number): void {
    this.#shortest = Math.min(this.#shortest, ms);
    this.#ofLate += (ms - this.#ofLate) * WEIGHT;
  }
}

const SLOW_MS = 1.5;
const SLOW_TIMES = 4;
/** Of the newest among all before: it is forgotten after some twenty. */
const WEIGHT = 0.1;

/** Connections whose failures are told as such, for single statements and transactions alike. */
function guarded(pool: Pool): PostgresPool {
  const known = new WeakMap<PoolClient, PostgresPoolClient>();
  return {
    options: pool.options,
    async connect() {
      assertOutsideTransaction();
      const client = await pool.connect().catch((error: unknown) => {
        throw toStoreError(error);
      });
      const guard = known.get(client) ?? guardedClient(client);
      known.set(client, guard);
      return guard;
    },
    end: () => pool.end(),
  };
}

function guardedClient(client: PoolClient): PostgresPoolClient {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  const ask = client.query.bind(client) as (query: QueryConfig) => Promise<unknown>;
  // What is asked for in one go is written in one go: a statement is a few small messages, and a transaction a few statements.
  const writeTogether = (): void => {
    if (stream.writableCorked > 0) return;
    stream.cork();
    process.nextTick(() => stream.uncork());
  };
  const query = async (text: string, values: unknown[] = []): Promise<unknown> => {
    writeTogether();
    const name = nameOfStatement(text);
    try {
      return await ask(name === undefined ? { text, values } : { name, text, values });
    } catch (error) {
      throw toStoreError(error);
    }
  };
  return { query, release: (error?: Error) => client.release(error) } as unknown as PostgresPoolClient;
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
      if (!CONFLICTS.has(codeOf(error))) throw inDoubt ? doubted(error) : error;
      // Others were in the way each time: nothing is wrong with what was asked for, and later it may be done.
      if (tries === TRIES) throw new StoreUnavailable(error);
    }
  }
}

/**
 * Classes 08 (connection), 53 (resources), 57 (operator intervention, e.g. a restart); transactions that the server ended because they
 * stood still (25P03, 25P04); and what the socket itself says.
 */
const GONE: RegExp = /^(08|53|57)|^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|25P0[34])/;
const GONE_MESSAGE: RegExp =
  /connection terminated|timeout exceeded when trying to connect|client has encountered a connection error|not queryable/i;

function toStoreError(error: unknown): unknown {
  const message = error instanceof Error ? error.message : '';
  return GONE.test(codeOf(error)) || GONE_MESSAGE.test(message) ? new StoreUnavailable(error) : error;
}

/** It was asked to commit before the connection broke. */
function doubted(error: unknown): unknown {
  return error instanceof StoreUnavailable ? new StoreUnavailable(error.cause, { inDoubt: true }) : error;
}

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}
