import {
  AbortedTransactionError,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { nameOfStatement } from '../compiled-once.ts';
import { assertOutsideTransaction } from '../run-transaction.ts';
import { type Answer, Batch, type BatchStatement, type Prepared } from './postgres-batch.ts';
import { toStoreError } from './postgres-error.ts';

/** Kysely's own dialect on our driver. */
export function postgresDialect(driver: Driver): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => driver,
    createIntrospector: (db: Kysely<unknown>) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

/** A connection that sends all statements of one turn of the event loop as one batch. */
export class BatchingConnection implements DatabaseConnection {
  readonly client: PoolClient;
  readonly #prepared: Prepared;
  #waiting: Batch | undefined;
  #isBusy = false;
  #isScheduled = false;
  /** Called right before a batch is sent. It can add statements that wait elsewhere. */
  onSend: (() => void) | undefined;

  constructor(client: PoolClient, prepared: Prepared) {
    this.client = client;
    this.#prepared = prepared;
  }

  executeQuery<Row>({ sql, parameters }: Pick<CompiledQuery, 'sql' | 'parameters'>): Promise<QueryResult<Row>> {
    return this.run({ name: nameOfStatement(sql), text: sql, values: parameters });
  }

  /** Rejects with store errors: the batch converts them. */
  run<Row>(statement: BatchStatement): Promise<Answer<Row>> {
    this.#waiting ??= new Batch(this.#prepared, () => this.#onEnd());
    const answer = this.#waiting.add<Row>(statement);
    this.schedule();
    return answer;
  }

  // biome-ignore lint/correctness/useYield: nothing streams.
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('The store does not stream queries.');
  }

  /** Sends the next batch once the last one is answered, after all code that is ready now has added its statements. */
  schedule(): void {
    if (this.#isScheduled || this.#isBusy) return;
    this.#isScheduled = true;
    process.nextTick(() => {
      this.#isScheduled = false;
      this.#send();
    });
  }

  #send(): void {
    if (!this.#isBusy) this.onSend?.();
    const batch = this.#waiting;
    if (batch === undefined || this.#isBusy) return;
    this.#waiting = undefined;
    this.#isBusy = true;
    this.client.query(batch);
  }

  #onEnd(): void {
    this.#isBusy = false;
    if (this.#waiting !== undefined || this.onSend !== undefined) this.schedule();
  }
}

/** Lends the connections of a pool to Kysely and to transactions. */
export class BatchingDriver implements Driver {
  readonly #pool: Pool;
  readonly #prepared = new WeakMap<PoolClient, Prepared>();
  readonly #broken = new WeakSet<DatabaseConnection>();

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<BatchingConnection> {
    assertOutsideTransaction();
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw toStoreError(error);
    });
    const prepared = this.#prepared.get(client) ?? new Map();
    this.#prepared.set(client, prepared);
    return new BatchingConnection(client, prepared);
  }

  async beginTransaction(connection: BatchingConnection): Promise<void> {
    await connection.run(BEGIN);
  }

  async commitTransaction(connection: BatchingConnection): Promise<void> {
    const { tag } = await connection.run(COMMIT);
    // PostgreSQL answers ROLLBACK if an earlier statement failed and that went unnoticed.
    if (tag === 'ROLLBACK') throw new AbortedTransactionError();
  }

  async rollbackTransaction(connection: BatchingConnection): Promise<void> {
    try {
      await connection.run(ROLLBACK);
    } catch (error) {
      this.#broken.add(connection);
      throw error;
    }
  }

  async releaseConnection(connection: BatchingConnection): Promise<void> {
    connection.client.release(this.#broken.has(connection));
  }

  async destroy(): Promise<void> {
    await this.#pool.end();
  }
}

/** Outside of transactions a connection is read-only: see postgres-pool.ts. */
const BEGIN: BatchStatement = { name: 'lastcall_begin', text: 'begin read write', values: [] };
const COMMIT: BatchStatement = { name: 'lastcall_commit', text: 'commit', values: [] };
const ROLLBACK: BatchStatement = { name: 'lastcall_rollback', text: 'rollback', values: [] };
