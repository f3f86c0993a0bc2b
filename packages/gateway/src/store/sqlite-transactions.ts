import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Kysely } from 'kysely';
import type { BegunTransaction } from './run-transaction.ts';
import type { SqliteDriver } from './sqlite-driver.ts';
import type { Tables } from './tables.ts';

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
  readonly #db: Kysely<Tables>;
  readonly #statements: Readonly<Record<'begin' | 'commit' | 'save' | 'keep' | 'undo', StatementSync>>;
  #group: Group | undefined;

  constructor(database: DatabaseSync, driver: SqliteDriver, db: Kysely<Tables>) {
    this.#database = database;
    this.#driver = driver;
    this.#db = db;
    this.#statements = {
      begin: database.prepare('begin immediate'),
      commit: database.prepare('commit'),
      save: database.prepare('savepoint member'),
      keep: database.prepare('release member'),
      undo: database.prepare('rollback to member'),
    };
  }

  async open({ isFirst }: { isFirst: boolean }): Promise<BegunTransaction> {
    await this.#driver.turn({ isMember: true, isFirst });
    try {
      this.#begin();
    } catch (error) {
      this.#driver.pass();
      throw error;
    }
    let isOver = false;
    return {
      db: this.#db,
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
    } finally {
      this.#goOn(group);
    }
    await group.committed.promise;
  }

  #undo(): void {
    const group = this.#group as Group;
    // Some failures undo the whole transaction of the database.
    if (group.size > 0 && this.#database.isTransaction) {
      this.#statements.undo.run();
      this.#statements.keep.run();
    }
    this.#goOn(group);
  }

  /** The next one in line joins in, or the group ends here. */
  #goOn(group: Group): void {
    const isJoined = this.#database.isTransaction && this.#driver.isMemberNext && group.size < MOST_MEMBERS;
    if (!isJoined || group.size === 0) this.#end(group);
    this.#driver.pass();
  }

  #end(group: Group): void {
    this.#group = undefined;
    try {
      if (group.size > 0) this.#statements.commit.run();
      else if (this.#database.isTransaction) this.#database.exec('rollback');
      group.committed.resolve();
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('rollback');
      group.committed.reject(error);
    }
  }
}
