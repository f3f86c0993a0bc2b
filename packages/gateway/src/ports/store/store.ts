import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/**
 * All durable state, in transactions. Written once, in Kysely, for every database; what differs between them is in
 * `sqlite-store.ts` and `postgres-store.ts`.
 *
 * Guarantees: a transaction that resolves is durable; one that rejects has changed nothing; reads see what was committed.
 */
export interface Store {
  readonly dialect: Dialect;
  /** For reading outside a transaction. Inside one it throws: a database with one connection would wait for itself. */
  readonly db: Kysely<Tables>;
  /**
   * Runs `work`, commits, then runs what it left for after. Conflicts with other transactions are tried again: `work` may run more
   * than once. It must not wait for another transaction, which may be waiting for it.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Whether as much is under way as it does well side by side: more would only wait. */
  readonly isBusy: boolean;
  /** Whether the database answers. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface TransactionOptions {
  /** Somebody waits for it: it goes ahead of those that nobody does, where they stand in line. */
  readonly isUrgent?: boolean;
}

export type Dialect = 'sqlite' | 'postgres';

/** A transaction under way. */
export interface Tx {
  readonly dialect: Dialect;
  /** Statements are sent as soon as they are asked for: those that do not need each other's rows can travel together. */
  readonly db: Kysely<Tables>;
  /** The database's clock, in milliseconds: gateways' own clocks may differ. */
  now(): number;
  /** A statement whose answer nobody waits for but the commit, which fails if it does. */
  send(statement: Promise<unknown>): void;
  /** Last work of the transaction, e.g. numbering the events it leaves. */
  beforeCommit(work: () => void | Promise<void>): void;
  /** What the world may learn once it is durable. Must not throw. */
  afterCommit(work: () => void): void;
}
