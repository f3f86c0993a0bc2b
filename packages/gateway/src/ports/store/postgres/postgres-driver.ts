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
import { ConnectionQueue } from './connection-queue.ts';
import {
  type Answer,
  Batch,
  type BatchFailure,
  type BatchStatement,
  type Prepared,
  StatementSkipped,
} from './postgres-batch.ts';
import { isCrowded, toConnectError, toStoreError } from './postgres-error.ts';
import { assertPrimary, type SessionSettings, setForTransaction } from './postgres-session.ts';

/** Kysely's own dialect on our driver. */
export function postgresDialect(driver: Driver): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => driver,
    createIntrospector: (db: Kysely<unknown>) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

/** The statements that begin transactions on a connection whose session is not ours: see postgres-session.ts. */
interface PooledBegin {
  /** Added to `begin`. */
  readonly settings: BatchStatement;
  /** Goes before statements outside of transactions. It makes them fail if they write, and limits their time. */
  readonly readOnly: BatchStatement;
}

/** A connection that sends all statements of one turn of the event loop as one batch. */
export class BatchingConnection implements DatabaseConnection {
  readonly client: PoolClient;
  readonly #prepared: Prepared;
  readonly #pooled: PooledBegin | undefined;
  #waiting: Batch | undefined;
  /** Of the waiting batch. */
  #readOnly: Promise<void> | undefined;
  #isBusy = false;
  #isScheduled = false;
  #isTransaction = false;
  /** Why BEGIN failed. What follows would run outside of a transaction, so it is not sent. */
  #refusal: BatchFailure | undefined;
  /** Called right before a batch is sent. It can add statements that wait elsewhere. */
  onSend: (() => void) | undefined;

  constructor(client: PoolClient, prepared: Prepared, pooled: PooledBegin | undefined) {
    this.client = client;
    this.#prepared = prepared;
    this.#pooled = pooled;
  }

  executeQuery<Row>({ sql, parameters }: Pick<CompiledQuery, 'sql' | 'parameters'>): Promise<QueryResult<Row>> {
    return this.run({ name: nameOfStatement(sql), text: sql, values: parameters });
  }

  async begin(): Promise<void> {
    this.#isTransaction = true;
    const begun = [this.run(BEGIN)];
    if (this.#pooled !== undefined) begun.push(this.run(this.#pooled.settings));
    await Promise.all(begun);
  }

  async rollback(): Promise<void> {
    this.#refusal = undefined;
    await this.run(ROLLBACK);
  }

  /** Rejects with store errors: the batch converts them. */
  run<Row>(statement: BatchStatement): Promise<Answer<Row>> {
    if (this.#refusal !== undefined) return Promise.reject(toStoreError(new StatementSkipped(this.#refusal.error)));
    const batch = this.#waiting ?? this.#newBatch();
    // Another connection of the server may not have it prepared, or may have prepared another one under its name.
    const answer = batch.add<Row>(this.#pooled === undefined ? statement : { ...statement, name: undefined });
    this.schedule();
    // If it fails, it says why. The answer would only say that it was skipped.
    return this.#readOnly === undefined ? answer : Promise.all([this.#readOnly, answer]).then(([, last]) => last);
  }

  #newBatch(): Batch {
    const batch = new Batch(this.#prepared, (failure) => this.#onEnd(failure));
    const readOnly = this.#isTransaction ? undefined : this.#pooled?.readOnly;
    this.#readOnly = readOnly && batch.add<object>(readOnly).then(({ rows }) => assertIsPrimary(rows));
    this.#waiting = batch;
    return batch;
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

  #onEnd(failure: BatchFailure | undefined): void {
    this.#isBusy = false;
    if (failure?.statement.text === BEGIN.text) this.#refuse(failure);
    if (this.#waiting !== undefined || this.onSend !== undefined) this.schedule();
  }

  #refuse(failure: BatchFailure): void {
    this.#refusal = failure;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.handleError(failure.error);
  }
}

function assertIsPrimary(rows: readonly object[]): void {
  try {
    assertPrimary(rows);
  } catch (error) {
    throw toStoreError(error);
  }
}

/** Lends the connections of a pool to Kysely and to transactions. */
export class BatchingDriver implements Driver {
  readonly #pool: Pool;
  readonly #queue: ConnectionQueue;
  readonly #prepared = new WeakMap<PoolClient, Prepared>();
  readonly #broken = new WeakSet<DatabaseConnection>();
  readonly #pooled: PooledBegin | undefined;

  /** With `pooled`, transactions share the pool's connections with those of other clients, and bring these settings along. */
  constructor(pool: Pool, pooled?: SessionSettings) {
    this.#pool = pool;
    this.#queue = new ConnectionQueue({ connections: pool.options.max, silenceMs: SILENCE_MS });
    this.#pooled = pooled && {
      settings: setForTransaction(pooled),
      readOnly: setForTransaction({ transaction_read_only: 'on', ...pooled }),
    };
  }

  async init(): Promise<void> {}

  /** A caller waits for a single statement, and all members for their group. */
  acquireConnection(): Promise<BatchingConnection> {
    return this.lend({ isUrgent: true });
  }

  async lend({ isUrgent }: { readonly isUrgent: boolean }): Promise<BatchingConnection> {
    assertOutsideTransaction();
    await this.#queue.turn({ isUrgent });
    const client = await this.#connect({ isUrgent });
    const prepared = this.#prepared.get(client) ?? new Map();
    this.#prepared.set(client, prepared);
    return new BatchingConnection(client, prepared, this.#pooled);
  }

  /** The pool may also throw before it returns a promise, e.g. if the file of a certificate cannot be read. */
  async #connect(options: { readonly isUrgent: boolean }): Promise<PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (error) {
      if (isCrowded(error) && this.#pool.totalCount > 0) {
        await this.#queue.turnOfAnother(options);
        return await this.#connect(options);
      }
      this.#queue.forgo();
      throw toConnectError(error);
    }
  }

  async beginTransaction(connection: BatchingConnection): Promise<void> {
    await connection.begin();
  }

  async commitTransaction(connection: BatchingConnection): Promise<void> {
    const { tag } = await connection.run(COMMIT);
    // PostgreSQL answers ROLLBACK if an earlier statement failed and that went unnoticed.
    if (tag === 'ROLLBACK') throw new AbortedTransactionError();
  }

  async rollbackTransaction(connection: BatchingConnection): Promise<void> {
    try {
      await connection.rollback();
    } catch (error) {
      this.#broken.add(connection);
      throw error;
    }
  }

  async releaseConnection(connection: BatchingConnection): Promise<void> {
    connection.client.release(this.#broken.has(connection));
    this.#queue.pass();
  }

  async destroy(): Promise<void> {
    await this.#pool.end();
  }
}

/** Longer than a statement may take: see TIMEOUTS. After it, callers retry, and nothing is lost. */
const SILENCE_MS = 16_000;

/**
 * Outside of transactions a connection is read-only: see postgres-pool.ts and postgres-session.ts. An administrator may have set another
 * isolation level for the role or the database. With `serializable`, transactions that now wait for each other would fail.
 */
const BEGIN: BatchStatement = {
  name: 'lastcall_begin',
  text: 'begin isolation level read committed read write',
  values: [],
};
const COMMIT: BatchStatement = { name: 'lastcall_commit', text: 'commit', values: [] };
const ROLLBACK: BatchStatement = { name: 'lastcall_rollback', text: 'rollback', values: [] };
