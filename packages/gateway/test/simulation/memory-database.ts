import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import { kyselyOn, runOn } from '../../src/ports/store/kysely-on.ts';
import { addAssertFound } from '../../src/ports/store/require-row.ts';
import type { BegunTransaction } from '../../src/ports/store/run-transaction.ts';
import { migrate } from '../../src/ports/store/schema/migrate.ts';
import type { Tables } from '../../src/ports/store/schema/tables.ts';
import { SqliteDriver, sqliteDialect } from '../../src/ports/store/sqlite/sqlite-driver.ts';
import { SqliteTransactions } from '../../src/ports/store/sqlite/sqlite-transactions.ts';

type Row = Readonly<Record<string, SQLInputValue>>;

/** One SQLite database in memory, for one world after the other. It answers before the call returns, so it is as deterministic as code. */
export class MemoryDatabase {
  readonly #database: DatabaseSync;
  readonly #tables: readonly string[];
  /** What the migrations inserted. */
  readonly #first: readonly { readonly table: string; readonly row: Row }[];
  readonly #statements = new Map<string, StatementSync>();

  private constructor(database: DatabaseSync) {
    this.#database = database;
    // The words of the search follow its entries. SQLite has them in internal tables.
    this.#tables = database
      .prepare(
        "select name from sqlite_master where type = 'table' and name not like 'kysely_%' and name not like 'search_words%'",
      )
      .all()
      .map(({ name }) => String(name));
    this.#first = this.#tables.flatMap((table) =>
      this.#all(`select * from "${table}"`).map((row) => ({ table, row: row as Row })),
    );
  }

  static async open(): Promise<MemoryDatabase> {
    const database = new DatabaseSync(':memory:');
    database.exec('pragma foreign_keys = on; pragma cache_size = -65536; pragma temp_store = memory;');
    addAssertFound(database);
    await migrate(new Kysely<Tables>({ dialect: sqliteDialect(new SqliteDriver(database)) }), 'sqlite');
    return new MemoryDatabase(database);
  }

  /** Empties all tables, and opens the database for a new world. */
  begin(): WorldDatabase {
    const database = this.#database;
    if (database.isTransaction) database.exec('rollback');
    database.exec('pragma foreign_keys = off; begin');
    for (const table of this.#tables) this.#prepare(`delete from "${table}"`).run();
    for (const { table, row } of this.#first) {
      const names = Object.keys(row);
      const marks = names.map(() => '?').join();
      this.#prepare(`insert into "${table}" (${names.map((name) => `"${name}"`).join()}) values (${marks})`).run(
        ...Object.values(row),
      );
    }
    database.exec('commit; pragma foreign_keys = on');
    return openForWorld(this.#withKnownStatements());
  }

  #prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  #all(sql: string): readonly unknown[] {
    return this.#prepare(sql).all();
  }

  /** Preparing a statement costs more than running it, so each is prepared once for all worlds. */
  #withKnownStatements(): DatabaseSync {
    const database = this.#database;
    const known = {
      prepare: (sql: string) => this.#prepare(sql),
      exec: (sql: string) => database.exec(sql),
      get isTransaction() {
        return database.isTransaction;
      },
    };
    return known as unknown as DatabaseSync;
  }
}

export interface WorldDatabase {
  readonly driver: SqliteDriver;
  readonly db: Kysely<Tables>;
  readonly raw: Pick<DatabaseSync, 'exec' | 'prepare'>;
  open(): Promise<BegunTransaction>;
}

function openForWorld(database: DatabaseSync): WorldDatabase {
  // No pauses: in virtual time, a transaction takes no time.
  const driver = new SqliteDriver(database, { sliceMs: Number.POSITIVE_INFINITY });
  const dialect = sqliteDialect(driver);
  const db = new Kysely<Tables>({ dialect });
  runOn(db, {
    executeQuery: (query) => driver.executeAlone(query),
    streamQuery: () => driver.connection.streamQuery(),
  });
  const transactions = new SqliteTransactions(database, driver, kyselyOn(db, { dialect, driver }));
  return { driver, db, raw: database, open: () => transactions.open({ isUrgent: false }) };
}
