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

/** Lends the connection to one at a time, in the order in which they asked. */
export class SqliteDriver implements Driver {
  readonly connection: SqliteConnection;
  readonly #database: DatabaseSync;
  readonly #line: { readonly isMember: boolean; readonly go: () => void }[] = [];
  #isLent = false;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.connection = new SqliteConnection(database);
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    assertOutsideTransaction();
    await this.turn({ isMember: false });
    return this.connection;
  }

  /** `isMember`: of a group of transactions that are committed together. */
  async turn({ isMember }: { isMember: boolean }): Promise<void> {
    if (!this.#isLent) {
      this.#isLent = true;
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#line.push({ isMember, go: resolve });
    await promise;
  }

  /** How many are in line. */
  get waiting(): number {
    return this.#line.length;
  }

  /** Whether the next in line is to be a member of the group too. */
  get isMemberNext(): boolean {
    return this.#line[0]?.isMember === true;
  }

  pass(): void {
    const next = this.#line.shift();
    if (next === undefined) this.#isLent = false;
    else next.go();
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

  async releaseConnection(): Promise<void> {
    this.pass();
  }

  async destroy(): Promise<void> {
    this.#database.close();
  }
}

export class SqliteConnection implements DatabaseConnection {
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
