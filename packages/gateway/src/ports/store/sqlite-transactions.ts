import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { DatabaseConnection } from 'kysely';
import type { BegunTransaction } from './run-transaction.ts';
import type { SqliteConnection, SqliteDriver } from './sqlite-driver.ts';

/** More would let the first of them wait for long. */
const MOST_MEMBERS = 10;

/** Transactions that are made durable by one commit: it is the dearest part of each. */
interface Group {
  /** Those that wait for it. */
  size: number;
  readonly committed: PromiseWithResolvers<void>;
}

/**
 * Transactions one after the other. Those that stand in line while one is under way follow it inside the same transaction of the
 * database, each undone by itself if it fails, and all of them are told of the commit at the end. One by itself is committed at once.
 */
export class SqliteTransactions {
  readonly #driver: SqliteDriver;
  readonly #database: DatabaseSync;
  readonly #connection: DatabaseConnection;
  readonly #on: BegunTransaction['on'];
  readonly #statements: Readonly<Record<'begin' | 'commit' | 'save' | 'keep' | 'undo', StatementSync>>;
  #group: Group | undefined;

  constructor(database: DatabaseSync, driver: SqliteDriver, on: BegunTransaction['on']) {
    this.#database = database;
    this.#driver = driver;
    this.#connection = inTransaction(database, driver.connection);
    this.#on = on;
    this.#statements = {
      begin: database.prepare('begin immediate'),
      commit: database.prepare('commit'),
      save: database.prepare('savepoint member'),
      keep: database.prepare('release member'),
      undo: database.prepare('rollback to member'),
    };
  }

  async open({ isUrgent }: { isUrgent: boolean }): Promise<BegunTransaction> {
    await this.#driver.turn({ isMember: true, isUrgent });
    try {
      this.#begin();
    } catch (error) {
      this.#goOn(this.#group);
      throw error;
    }
    let isOver = false;
    return {
      connection: this.#connection,
      on: this.#on,
      commit: async () => {
        isOver = true;
        await this.#commit();
      },
      rollback: async () => {
        if (isOver) return;
        isOver = true;
        this.#undo();
      },
      close: async () => {},
    };
  }

  #begin(): void {
    if (this.#group !== undefined) {
      this.#statements.save.run();
      return;
    }
    this.#statements.begin.run();
    const committed = Promise.withResolvers<void>();
    // Each member hears of it by itself.
    committed.promise.catch(() => {});
    this.#group = { size: 0, committed };
  }

  async #commit(): Promise<void> {
    const group = this.#group as Group;
    try {
      if (group.size > 0) this.#statements.keep.run();
      group.size++;
    } catch (error) {
      // What it wrote cannot be told apart from what the others did.
      this.#giveUp(group, error);
      this.#driver.pass();
      throw error;
    }
    this.#goOn(group);
    await group.committed.promise;
  }

  #undo(): void {
    const group = this.#group as Group;
    try {
      // Some failures undo the whole transaction of the database.
      if (group.size > 0 && this.#database.isTransaction) {
        this.#statements.undo.run();
        this.#statements.keep.run();
      }
    } catch (error) {
      this.#giveUp(group, error);
    }
    this.#goOn(this.#group);
  }

  /** The next one in line joins in, or the group ends here. */
  #goOn(group: Group | undefined): void {
    let isJoined = false;
    try {
      isJoined =
        group !== undefined &&
        group.size > 0 &&
        group.size < MOST_MEMBERS &&
        this.#database.isTransaction &&
        this.#driver.isMemberNext;
      if (group !== undefined && !isJoined) this.#end(group);
    } catch (error) {
      if (group !== undefined) this.#giveUp(group, error);
    }
    // Decided once: whoever joins does so without a pause, in which others could see what is not durable.
    if (isJoined) this.#driver.goNext();
    else this.#driver.pass();
  }

  #end(group: Group): void {
    this.#group = undefined;
    if (group.size > 0) this.#statements.commit.run();
    else if (this.#database.isTransaction) this.#database.exec('rollback');
    group.committed.resolve();
  }

  #giveUp(group: Group, error: unknown): void {
    this.#group = undefined;
    group.committed.reject(error);
    try {
      if (this.#database.isTransaction) this.#database.exec('rollback');
    } catch {
      // It was closed: what was not committed is gone.
    }
  }
}

/** Some failures undo the whole transaction: what comes after them must not be made durable by itself. */
function inTransaction(database: DatabaseSync, connection: SqliteConnection): DatabaseConnection {
  return {
    async executeQuery(query) {
      if (!database.isTransaction) throw Object.assign(new Error('The transaction was undone.'), { code: 'undone' });
      return await connection.executeQuery(query);
    },
    streamQuery: () => connection.streamQuery(),
  };
}
