import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  type SelectModifierNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { LRUCache } from 'lru-cache';
import { FairQueue } from '../../fair-queue.ts';
import { nameOfStatement } from '../compiled-once.ts';
import { assertOutsideTransaction } from '../run-transaction.ts';
import { StoreMisuse } from '../store-error.ts';
import type { LogSync } from './log-sync.ts';
import { type ToSqliteError, toSqliteError } from './sqlite-error.ts';

/** Runs Kysely on Node's own SQLite: one connection, used by one transaction or one statement at a time. */
export function sqliteDialect(driver: SqliteDriver): Dialect {
  return {
    createAdapter: () => new QueueingAdapter(),
    createDriver: () => driver,
    createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
    createQueryCompiler: () => new LocklessCompiler(),
  };
}

/** Our driver has its own queue, because in Kysely's queue a transaction could wait for itself without an error. */
class QueueingAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }

  /** SQLite can undo changes of tables. So all migrations of a start are one transaction: a crash leaves nothing half done. */
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** SQLite runs one transaction at a time and has no row locks, so `for update` and similar clauses are left out. */
class LocklessCompiler extends SqliteQueryCompiler {
  protected override visitSelectModifier(node: SelectModifierNode): void {
    if (node.modifier === undefined || node.modifier === 'Distinct') super.visitSelectModifier(node);
  }
}

/** A transaction or a statement that waits for the connection. */
interface Waiting {
  /** 0 if it is urgent. */
  readonly rank: 0 | 1;
  /** True for a transaction, which may be committed together with others. */
  readonly isMember: boolean;
  readonly go: () => void;
}

/**
 * How long the connection is used without a pause. SQLite answers synchronously, so without pauses the process could do
 * nothing else.
 */
const SLICE_MS = 8;

/** Lends the one connection to one transaction or statement at a time. */
export class SqliteDriver implements Driver {
  readonly connection: SqliteConnection;
  /** If it is set, a statement outside of a transaction is answered when all that it may have read is durable. */
  log: LogSync | undefined;
  readonly #database: DatabaseSync;
  readonly #sliceMs: number;
  readonly #queue = new FairQueue<Waiting>({ ranks: 2 });
  #isLent = false;
  /** When the current use without a pause began. */
  #since: number | undefined;

  constructor(
    database: DatabaseSync,
    { sliceMs = SLICE_MS, toError = toSqliteError }: { sliceMs?: number | undefined; toError?: ToSqliteError } = {},
  ) {
    this.#database = database;
    this.#sliceMs = sliceMs;
    this.connection = new SqliteConnection(database, toError);
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    assertOutsideTransaction();
    await this.turn({ isMember: false, isUrgent: true });
    const lost = this.log?.lost;
    if (lost === undefined) return this.connection;
    this.pass();
    throw lost;
  }

  /**
   * Runs one statement outside of a transaction, at once if the connection is free. Kysely needs many more steps for
   * this.
   */
  async executeAlone<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    assertOutsideTransaction();
    if (!this.#isLent && !this.#isPauseDue()) return await this.#answer<R>(query);
    await this.turn({ isMember: false, isUrgent: true });
    const answer = this.#answer<R>(query);
    this.pass();
    return await answer;
  }

  /** Runs the statement before it returns. */
  async #answer<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    this.log?.assertSound();
    const answer = this.connection.executeQuery<R>(query);
    // An error waits too: it may tell of rows. Until then it counts as handled.
    answer.catch(() => {});
    await this.log?.durable();
    return await answer;
  }

  /** Resolves when the caller has the connection. The caller gives it back with `pass` or `goNext`. */
  turn({ isMember, isUrgent }: { readonly isMember: boolean; readonly isUrgent: boolean }): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#queue.add({ isMember, rank: isUrgent ? 0 : 1, go: resolve });
    if (!this.#isLent) {
      this.#isLent = true;
      this.pass();
    }
    return promise;
  }

  /** How many callers wait for the connection. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** True if a transaction is next and no pause is due before it. */
  get isMemberNext(): boolean {
    return !this.#isPauseDue() && this.#queue.next()?.isMember === true;
  }

  pass(): void {
    if (this.waiting === 0) this.#isLent = false;
    else if (this.#isPauseDue()) setImmediate(() => this.pass());
    else this.goNext();
  }

  /** Lends the connection to the next caller without a pause. */
  goNext(): void {
    this.#queue.take()?.go();
  }

  #isPauseDue(): boolean {
    // Pauses are turned off, so there is nothing to time.
    if (this.#sliceMs === Number.POSITIVE_INFINITY) return false;
    if (this.#since !== undefined) return performance.now() - this.#since > this.#sliceMs;
    this.#since = performance.now();
    setImmediate(() => {
      this.#since = undefined;
    });
    return false;
  }

  async beginTransaction(): Promise<void> {
    this.#database.exec('begin immediate');
  }

  async commitTransaction(): Promise<void> {
    this.#database.exec('commit');
  }

  async rollbackTransaction(): Promise<void> {
    if (this.#database.isTransaction) this.#database.exec('rollback');
  }

  /** Kysely gives the rows to its caller when this resolves. */
  async releaseConnection(): Promise<void> {
    const durable = this.log?.durable();
    this.pass();
    await durable;
  }

  async destroy(): Promise<void> {
    this.#database.close();
  }
}

export class SqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSync;
  readonly #toError: ToSqliteError;
  #lastError: unknown;
  // The same few hundred statements are used again and again, and preparing one costs more than running it.
  readonly #compiledOnce = new Map<string, Prepared>();
  // Of those that are built each time: limited, because lists of any length in `in (…)` create new texts.
  readonly #built = new LRUCache<string, Prepared>({ max: 500 });

  constructor(database: DatabaseSync, toError: ToSqliteError) {
    this.#database = database;
    this.#toError = toError;
  }

  /** Runs the statement before it returns. */
  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    try {
      const { statement, givesRows } = this.#prepare(sql);
      const values = parameters as readonly SQLInputValue[];
      if (givesRows) return { rows: statement.all(...values) as R[] };
      const { changes } = statement.run(...values);
      return { rows: [], numAffectedRows: BigInt(changes) };
    } catch (error) {
      throw this.failed(error);
    }
  }

  /** Converts the error of a statement. */
  failed(error: unknown): unknown {
    this.#lastError = this.#toError(error);
    return this.#lastError;
  }

  /** If SQLite has undone a transaction, why it did. */
  get lastError(): unknown {
    return this.#lastError;
  }

  // biome-ignore lint/correctness/useYield: the interface asks for it, and nothing here reads more than fits.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new StoreMisuse('Streaming a query is not supported: page it.');
  }

  #prepare(sql: string): Prepared {
    const known = this.#compiledOnce.get(sql) ?? this.#built.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    const prepared = { statement, givesRows: statement.columns().length > 0 };
    const kept = nameOfStatement(sql) === undefined ? this.#built : this.#compiledOnce;
    kept.set(sql, prepared);
    return prepared;
  }
}

interface Prepared {
  readonly statement: StatementSync;
  readonly givesRows: boolean;
}
