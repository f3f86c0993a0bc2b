import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { assertOutsideTransaction } from './run-transaction.ts';
import { StoreMisuse } from './store-error.ts';

/** Node's own SQLite under Kysely: one connection, used by one transaction or one statement at a time. */
export function sqliteDialect(driver: SqliteDriver): Dialect {
  return {
    createAdapter: () => new QueueingAdapter(),
    createDriver: () => driver,
    createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

/** Our driver queues by itself, because Kysely's own queue would let a transaction wait for itself silently. */
class QueueingAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

export class SqliteDriver implements Driver {
  readonly #database: DatabaseSync;
  readonly #connection: SqliteConnection;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  #last: Promise<void> = Promise.resolve();
  #free: (() => void) | undefined;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#connection = new SqliteConnection(database);
    this.#begin = database.prepare('begin immediate');
    this.#commit = database.prepare('commit');
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    assertOutsideTransaction();
    const turn = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await turn;
    this.#free = resolve;
    return this.#connection;
  }

  async beginTransaction(): Promise<void> {
    this.#begin.run();
  }

  async commitTransaction(): Promise<void> {
    this.#commit.run();
  }

  async rollbackTransaction(): Promise<void> {
    if (this.#database.isTransaction) this.#database.exec('rollback');
  }

  async releaseConnection(): Promise<void> {
    this.#free?.();
  }

  async destroy(): Promise<void> {
    this.#database.close();
  }
}

class SqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSync;
  // The same few hundred statements come again and again: preparing one costs more than running it.
  readonly #prepared = new Map<string, Prepared>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { statement, givesRows } = this.#prepare(sql);
    const values = parameters as readonly SQLInputValue[];
    if (givesRows) return { rows: statement.all(...values) as R[] };
    const { changes } = statement.run(...values);
    return { rows: [], numAffectedRows: BigInt(changes) };
  }

  // biome-ignore lint/correctness/useYield: the interface asks for it, and nothing here reads more than fits.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new StoreMisuse('Streaming a query is not supported: page it.');
  }

  #prepare(sql: string): Prepared {
    const known = this.#prepared.get(sql);
    if (known !== undefined) return known;
    if (this.#prepared.size >= MOST_PREPARED) this.#prepared.clear();
    const statement = this.#database.prepare(sql);
    const prepared = { statement, givesRows: statement.columns().length > 0 };
    this.#prepared.set(sql, prepared);
    return prepared;
  }
}

interface Prepared {
  readonly statement: StatementSync;
  readonly givesRows: boolean;
}

/** Lists of any length in `in (…)` make new texts: they must not pile up. */
const MOST_PREPARED = 500;
