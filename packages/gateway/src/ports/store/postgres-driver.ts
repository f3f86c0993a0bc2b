import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresDriver,
  PostgresIntrospector,
  type PostgresPool,
  type PostgresPoolClient,
  PostgresQueryCompiler,
} from 'kysely';
import type { Pool, PoolClient, QueryConfig } from 'pg';
import { toStoreError } from './postgres-error.ts';
import { assertOutsideTransaction } from './run-transaction.ts';
import { nameOfStatement } from './statement.ts';

/** Kysely's own dialect, upon a driver that is ours. */
export function postgresDialect(driver: Driver): Dialect {
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
export class PipelinedDriver extends PostgresDriver {
  /** The shortest wait so far, and that of late, in milliseconds. */
  #shortest = Number.POSITIVE_INFINITY;
  #ofLate = 0;

  /** Whether what is under way waits for each other more than for anything else. */
  get isSlow(): boolean {
    return this.#ofLate > Math.max(SLOW_MS, SLOW_TIMES * this.#shortest);
  }

  async begin(connection: DatabaseConnection): Promise<void> {
    const askedAt = performance.now();
    await connection.executeQuery(BEGIN);
    this.#measure(performance.now() - askedAt);
  }

  #measure(ms: number): void {
    this.#shortest = Math.min(this.#shortest, ms);
    this.#ofLate += (ms - this.#ofLate) * WEIGHT;
  }
}

/** Outside of transactions the connection cannot write: see postgres-pool.ts. */
const BEGIN: CompiledQuery = CompiledQuery.raw('begin read write');

const SLOW_MS = 1.5;
const SLOW_TIMES = 4;
/** Of the newest among all before: it is forgotten after some twenty. */
const WEIGHT = 0.1;

/** Connections whose failures are told as such, for single statements and transactions alike. */
export function guarded(pool: Pool): PostgresPool {
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
  const ask = client.query.bind(client) as (query: QueryConfig) => Promise<unknown>;
  const query = async (text: string, values: unknown[] = []): Promise<unknown> => {
    const name = nameOfStatement(text);
    try {
      return await ask(name === undefined ? { text, values } : { name, text, values });
    } catch (error) {
      throw toStoreError(error);
    }
  };
  return { query, release: (error?: Error) => client.release(error) } as unknown as PostgresPoolClient;
}
