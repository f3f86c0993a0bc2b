import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { CompiledQuery, DatabaseConnection } from 'kysely';
import type { BegunTransaction } from '../run-transaction.ts';
import type { LogSync } from './log-sync.ts';
import type { SqliteConnection, SqliteDriver } from './sqlite-driver.ts';

/** With more members, the first transaction of a group would wait too long. */
const MOST_MEMBERS = 40;

/** Transactions that share one commit, which is the most expensive part. */
interface Group {
  /** How many transactions wait for the commit. */
  size: number;
  readonly committed: PromiseWithResolvers<void>;
}

/**
 * Runs transactions one after the other. Those that queue up while one runs follow it inside the same database
 * transaction, each in its own savepoint, and all of them resolve with the one commit, when it is durable. A single
 * transaction is committed at once. The next one may begin before that commit is durable, and see what it wrote; it
 * resolves or rejects later.
 */
export class SqliteTransactions {
  readonly #driver: SqliteDriver;
  readonly #database: DatabaseSync;
  readonly #connection: DatabaseConnection;
  readonly #on: BegunTransaction['on'];
  readonly #log: LogSync | undefined;
  readonly #statements: Readonly<Record<'begin' | 'commit' | 'save' | 'keep' | 'undo', StatementSync>>;
  #group: Group | undefined;

  constructor(database: DatabaseSync, driver: SqliteDriver, on: BegunTransaction['on']) {
    this.#database = database;
    this.#driver = driver;
    this.#log = driver.log;
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
      this.#log?.assertSound();
      this.#begin();
    } catch (error) {
      const reason = this.#driver.connection.failed(error);
      this.#goOn(this.#group);
      throw reason;
    }
    const group = this.#group as Group;
    let isOver = false;
    let isUndone = false;
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
        isUndone = true;
        this.#undo();
      },
      // The error of a transaction may tell of rows that others wrote, so it waits for them. If they fail, their error takes its place.
      close: async () => {
        if (isUndone) await group.committed.promise;
      },
    };
  }

  #begin(): void {
    if (this.#group !== undefined) {
      this.#statements.save.run();
      return;
    }
    this.#statements.begin.run();
    const committed = Promise.withResolvers<void>();
    // Each member awaits this promise. Without members its rejection would be unhandled.
    committed.promise.catch(() => {});
    this.#group = { size: 0, committed };
  }

  async #commit(): Promise<void> {
    const group = this.#group as Group;
    try {
      if (group.size > 0) this.#statements.keep.run();
      group.size++;
    } catch (error) {
      // The member's writes cannot be separated from those of the others, so the whole group fails.
      const reason = this.#giveUp(group, error);
      this.#driver.pass();
      throw reason;
    }
    this.#goOn(group);
    await group.committed.promise;
  }

  #undo(): void {
    const group = this.#group as Group;
    try {
      // Some failures undo the whole database transaction.
      if (group.size > 0 && this.#database.isTransaction) {
        this.#statements.undo.run();
        this.#statements.keep.run();
      }
    } catch (error) {
      this.#giveUp(group, error);
    }
    this.#goOn(this.#group);
  }

  /** Lets the next transaction join the group, or ends the group. */
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
    // This is decided once: a transaction joins without a pause. In a pause, readers could see writes that are not
    // committed.
    if (isJoined) this.#driver.goNext();
    else this.#driver.pass();
  }

  #end(group: Group): void {
    this.#group = undefined;
    if (group.size > 0 && !this.#database.isTransaction) throw this.#driver.connection.lastError;
    if (group.size > 0) this.#statements.commit.run();
    else if (this.#database.isTransaction) this.#database.exec('rollback');
    group.committed.resolve(this.#log?.durable());
  }

  #giveUp(group: Group, error: unknown): unknown {
    this.#group = undefined;
    const reason = this.#driver.connection.failed(error);
    group.committed.reject(reason);
    try {
      if (this.#database.isTransaction) this.#database.exec('rollback');
    } catch {
      // The database was closed, so uncommitted writes are gone.
    }
    return reason;
  }
}

/** Some failures undo the whole database transaction. Statements that follow must not be committed separately. */
function inTransaction(database: DatabaseSync, connection: SqliteConnection): DatabaseConnection {
  return {
    executeQuery: <Row>(query: CompiledQuery) =>
      database.isTransaction ? connection.executeQuery<Row>(query) : Promise.reject(undone()),
    streamQuery: () => connection.streamQuery(),
  };
}

const undone = (): Error => Object.assign(new Error('The transaction was undone.'), { code: 'undone' });
