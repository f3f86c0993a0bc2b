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

/** Somebody in line. */
interface Waiting {
  readonly isMember: boolean;
  readonly go: () => void;
}

/** How long the connection is used without a pause. Nothing here waits for anything but its turn: the process would do nothing else. */
const SLICE_MS = 4;

/** Then one of the others goes: requests that never end must not keep everybody else from their turn for ever. */
const MOST_AHEAD = 8;

/** Lends the connection to one at a time, in the order in which they asked, but for those who are waited for. */
export class SqliteDriver implements Driver {
  readonly connection: SqliteConnection;
  readonly #database: DatabaseSync;
  readonly #sliceMs: number;
  readonly #first: Waiting[] = [];
  readonly #others: Waiting[] = [];
  #isLent = false;
  /** How many went one after the other because they are waited for. */
  #ahead = 0;
  /** Since when it is used without a pause. */
  #since: number | undefined;

  constructor(database: DatabaseSync, { sliceMs = SLICE_MS }: { sliceMs?: number } = {}) {
    this.#database = database;
    this.#sliceMs = sliceMs;
    this.connection = new SqliteConnection(database);
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    assertOutsideTransaction();
    await this.turn({ isMember: false, isUrgent: true });
    return this.connection;
  }

  /** `isMember`: of a group of transactions that are committed together. */
  turn({ isMember, isUrgent }: { isMember: boolean; isUrgent: boolean }): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    (isUrgent ? this.#first : this.#others).push({ isMember, go: resolve });
    if (!this.#isLent) {
      this.#isLent = true;
      this.pass();
    }
    return promise;
  }

  /** How many are in line. */
  get waiting(): number {
    return this.#first.length + this.#others.length;
  }

  /** Whether the next in line is to be a member of the group too, and goes without a pause. */
  get isMemberNext(): boolean {
    return !this.#isPauseDue() && this.#nextLine[0]?.isMember === true;
  }

  pass(): void {
    if (this.waiting === 0) this.#isLent = false;
    else if (this.#isPauseDue()) setImmediate(() => this.pass());
    else this.goNext();
  }

  /** Without a pause. */
  goNext(): void {
    const line = this.#nextLine;
    this.#ahead = line === this.#first ? this.#ahead + 1 : 0;
    line.shift()?.go();
  }

  get #nextLine(): Waiting[] {
    if (this.#others.length === 0) return this.#first;
    return this.#first.length === 0 || this.#ahead >= MOST_AHEAD ? this.#others : this.#first;
  }

  #isPauseDue(): boolean {
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
