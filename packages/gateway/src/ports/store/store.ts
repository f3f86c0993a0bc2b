import type { Kysely } from 'kysely';
import type { GatewayLimits } from '../../config/limits.ts';
import type { NewStreamEvent } from '../bus/bus.ts';
import type { Dialect } from './dialect.ts';
import type { Tables } from './schema/tables.ts';
import type { Statement } from './statement.ts';

/**
 * All durable state, in transactions. The code is written once, in Kysely, for every database. The differences between
 * them are in `sqlite-store.ts` and `postgres-store.ts`.
 *
 * The contract, the same for every database, each clause with a test in `contract.test.ts`:
 *
 * 1. A transaction that resolves is durable. One that rejects has changed nothing, or its outcome is unknown (`inDoubt`).
 * 2. After COMMIT is sent, none of our code can fail: statements are compiled and their values checked when they are
 *    sent, the returned rows are read after the commit, and an error in `afterCommit` is only a warning.
 * 3. Nothing is written unless BEGIN succeeded. On PostgreSQL BEGIN is sent with the first statements, in one batch. If
 *    it fails, the server skips the rest of the batch (postgres-batch.ts), and the next batch waits for the answer to
 *    this one. In addition, connections are read-only outside of transactions.
 * 4. Several rows are locked in the order of the store, not in that of the caller: `lockRows`.
 * 5. A value that a statement takes is a `Param`: code that branches on it does not compile.
 * 6. Only compiled statements are sent without waiting for their answer: `Tx.send`. A statement that must find a row
 *    fails if it does not: `requireRow`.
 * 7. An event that a transaction emits is numbered and stored with it, last of all, and published after the commit. A
 *    thread that it wakes is woken after the commit. A transaction that rejects publishes and wakes nothing.
 *
 * A transaction on PostgreSQL that waits for no answer is one round trip:
 *
 *     gateway    BEGIN · lock · write · write · COMMIT                       afterCommit
 *                                    │                                            ▲
 *     database                       └─▶ all of it, or one fails and undoes all ──┘
 *
 * With `group`, several transactions that are ready at the same time become one transaction of PostgreSQL:
 * postgres-group.ts.
 *
 * SQLite runs a statement when it is sent, in this process, and COMMIT when all have succeeded. Its answer is a promise
 * too: there is one kind of call for all databases.
 */
export interface Store {
  readonly dialect: Dialect;
  /**
   * For reading outside a transaction; PostgreSQL refuses to write there. Throws inside a transaction: a database with
   * one connection would wait for itself.
   */
  readonly db: Kysely<Tables>;
  /**
   * Runs `work`, commits, then runs the `afterCommit` callbacks. After a conflict with another transaction it retries,
   * so `work` may run more than once. It must not wait for another transaction, which may be waiting for it.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** True when the store is saturated: more transactions would only wait. */
  readonly isBusy: boolean;
  /** True if the store refuses everything until the gateway is started again: a write did not reach the disk. */
  readonly isLost?: boolean;
  /**
   * How many threads to claim in parallel. With more, they would be claimed together, but the next one would wait for
   * all of them.
   */
  readonly claimsAtOnce: number;
  /** How many rows a background task changes in one transaction, so that others need not wait long for it. */
  readonly rowsAtOnce: number;
  /**
   * Removes from the database's files what they still hold of rows of these tables that were changed or deleted. It may take a while: `keep` is called
   * between its steps. Logs of the server, replicas and backups are not changed.
   */
  reclaim(tables: readonly (keyof Tables)[], keep?: () => Promise<void>): Promise<void>;
  /** Resolves if the database answers. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface TransactionOptions {
  /** True if a caller waits for it. Urgent transactions go ahead of others in the queue. */
  readonly isUrgent?: boolean;
  /**
   * Allows the store to combine it with others in one database transaction, where that is faster: see
   * postgres-group.ts.
   */
  readonly group?: GroupOptions | undefined;
}

export interface GroupOptions {
  /** Only transactions of one kind are combined: they run the same code, so they can share statements too. */
  readonly kind: 'claim' | 'journal' | 'reply' | 'post' | 'event';
  /**
   * The ids of the rows that it locks. No two members of a group have one in common. To lock any other row, it has to call
   * `runAlone`.
   */
  readonly keys: readonly string[];
  /**
   * The id of a row that many transactions lock, such as a space or an agent. Those with the same one run one after another, so that only one of them
   * waits for the lock.
   */
  readonly turn?: string;
  /** Goes ahead of others of its kind that wait for a group. */
  readonly isFirst?: boolean;
}

/**
 * An open transaction: the unit of work. It also emits events, wakes threads and knows the gateway's limits, so most
 * functions that write need nothing else.
 */
export interface Tx {
  readonly dialect: Dialect;
  readonly limits: GatewayLimits;
  /** Statements are sent immediately, so those that do not need each other's rows can share a round trip. */
  readonly db: Kysely<Tables>;
  /** The database's clock, in milliseconds: gateways' own clocks may differ. */
  now(): number;
  /**
   * Sends a statement without waiting for its answer. If it fails, the transaction fails with the error that `toError`
   * returns. It takes a compiled statement and not a promise, because the commit may be sent before the answer arrives:
   * from then on only the database may refuse.
   */
  send<Values extends object, Row>(
    statement: Statement<Values, Row>,
    values: Values,
    toError?: (error: unknown) => unknown,
  ): Sent<Row>;
  /**
   * Call it before locking a row, with the row's id. The lock would not keep members of a group apart, so a member
   * leaves the group and its work starts again alone. A lock on a row that its keys name is allowed. Call it before the first
   * write: a member that leaves later undoes the whole group.
   */
  runAlone(lockedId?: string): void;
  /** True for a member of a group. The others wait for all that it waits for, so it must not wait for the lock of a space. */
  readonly isShared: boolean;
  /**
   * Emits an event on a stream. It is stored with the transaction, numbered at its end, and published after the
   * commit.
   */
  emit(event: NewStreamEvent): void;
  /** Wakes the thread after the commit. */
  wake(threadId: string, options?: WakeOptions): void;
  /** Adds work that runs last in the transaction. The numbering of its events is such work. */
  beforeCommit(work: () => void | Promise<void>): void;
  /**
   * Adds a callback for when the transaction is durable, e.g. to publish events. Its errors become warnings, because
   * the transaction cannot be undone.
   */
  afterCommit(work: () => void): void;
}

export interface WakeOptions {
  /** True if a person waits for the thread, so it goes first. */
  readonly isUrgent: boolean;
}

/** A statement that was sent. */
export interface Sent<Row> {
  /** The returned rows. They are known once the transaction is durable, so read them in `afterCommit`. */
  readonly rows: readonly Row[];
}
