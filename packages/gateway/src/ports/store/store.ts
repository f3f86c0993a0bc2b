import type { Kysely } from 'kysely';
import type { Dialect } from './dialect.ts';
import type { Statement } from './statement.ts';
import type { Tables } from './tables.ts';

/**
 * All durable state, in transactions. Written once, in Kysely, for every database; what differs between them is in
 * `sqlite-store.ts` and `postgres-store.ts`.
 *
 * The contract, the same for every database, each clause with a test in `contract.test.ts`:
 *
 * 1. A transaction that resolves is durable. One that rejects has changed nothing, or says that it cannot know (`inDoubt`).
 * 2. After COMMIT is sent nothing of ours can fail: statements are compiled and their values checked when they are sent, what they
 *    return is read after the commit, and what `afterCommit` throws is a warning.
 * 3. Nothing is written unless BEGIN holds. On PostgreSQL BEGIN travels with the first statements, in one batch; should it fail,
 *    the server skips the rest of the batch (postgres-batch.ts), and the next batch waits for the answer to this one. Besides,
 *    connections are read only outside of transactions.
 * 4. Several rows are locked in the order of the store, not of the caller: `lockRows`.
 * 5. A value that a statement takes is a `Param`: code that branches on it does not compile.
 * 6. Only compiled statements are sent without waiting for their answer: `Tx.send`. One that must find a row fails by itself:
 *    `requireRow`.
 *
 * A transaction on PostgreSQL that waits for nothing is one round trip:
 *
 *     gateway    BEGIN · lock · write · write · COMMIT                       afterCommit
 *                                    │                                            ▲
 *     database                       └─▶ all of it, or one fails and undoes all ──┘
 *
 * With `group`, several transactions that are ready at the same time are one transaction of PostgreSQL: postgres-group.ts.
 *
 * On SQLite statements are answered at once, and COMMIT follows when all are known to have succeeded.
 */
export interface Store {
  readonly dialect: Dialect;
  /**
   * For reading outside a transaction; PostgreSQL refuses to write there. Inside a transaction it throws: a database with one
   * connection would wait for itself.
   */
  readonly db: Kysely<Tables>;
  /**
   * Runs `work`, commits, then runs what it left for after. Conflicts with other transactions are tried again: `work` may run more
   * than once. It must not wait for another transaction, which may be waiting for it.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Whether as much is under way as it does well side by side: more would only wait. */
  readonly isBusy: boolean;
  /** How many threads are best claimed side by side. More would be claimed together, but whoever comes next would wait for them. */
  readonly claimsAtOnce: number;
  /** Whether the database answers. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface TransactionOptions {
  /** Somebody waits for it: it goes ahead of those that nobody does, where they stand in line. */
  readonly isUrgent?: boolean;
  /** It may be one of several in a transaction of the database, where that pays: see postgres-group.ts. */
  readonly group?: GroupOptions | undefined;
}

export interface GroupOptions {
  /** Only transactions of one kind share one: they do the same, so that they share statements too. */
  readonly kind: 'claim' | 'journal' | 'post' | 'event';
  /** The row that it locks, and nobody else in the group. For any other lock it has to `runAlone`. */
  readonly key: string;
}

/** A transaction under way. */
export interface Tx {
  readonly dialect: Dialect;
  /** Statements are sent as soon as they are asked for: those that do not need each other's rows can travel together. */
  readonly db: Kysely<Tables>;
  /** The database's clock, in milliseconds: gateways' own clocks may differ. */
  now(): number;
  /**
   * Sends a statement without waiting for its answer. If it fails, so does the transaction, with what `toError` makes of the failure.
   * It takes a compiled statement and no promise, because the commit may be on its way before the answer is here: from then on only
   * the database may say no.
   */
  send<Values extends object, Row>(
    statement: Statement<Values, Row>,
    values: Values,
    toError?: (error: unknown) => unknown,
  ): Sent<Row>;
  /** Runs a statement before it returns. Only on SQLite, which is in this process: nothing has to be waited for. */
  runNow<Values extends object, Row>(statement: Statement<Values, Row>, values: Values): readonly Row[];
  /**
   * To be called before a row is locked, by its id. The lock would not keep the members of a group apart, so a transaction that is one
   * leaves the group, and its work begins again alone. The row of its own key is its own.
   */
  runAlone(lockedId?: string): void;
  /** Last work of the transaction, e.g. numbering the events it leaves. */
  beforeCommit(work: () => void | Promise<void>): void;
  /** What the world may learn once it is durable. What it throws is told as a warning: the transaction stands. */
  afterCommit(work: () => void): void;
}

/** A statement that was sent. */
export interface Sent<Row> {
  /** What it returned. Known once the transaction is durable: to be read in `afterCommit`. */
  readonly rows: readonly Row[];
}
