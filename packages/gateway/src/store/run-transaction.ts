import { AsyncLocalStorage } from 'node:async_hooks';
import type { Kysely } from 'kysely';
import type { Dialect, TransactionOptions, Tx } from './store.ts';
import { StoreMisuse } from './store-error.ts';
import type { Tables } from './tables.ts';

const transactions = new AsyncLocalStorage<{ open: boolean }>();

/**
 * Refuses another connection to whoever is inside a transaction. With one connection they would wait for themselves for
 * ever; with several they would read past their own writes, and at the limit wait for each other.
 */
export function assertOutsideTransaction(): void {
  if (transactions.getStore()?.open === true)
    throw new StoreMisuse('The store was used inside a transaction: use the transaction (tx.db).');
}

/** How a database does transactions. */
export interface TransactionSource {
  readonly dialect: Dialect;
  readonly now: () => number;
  /**
   * Whether a statement that fails leaves nothing to commit. Then the commit is sent along with the last statements, without waiting
   * for their answers.
   */
  readonly failsWhole: boolean;
  /** Waits for its turn, and begins. */
  open(options: { isFirst: boolean }): Promise<BegunTransaction>;
}

/** A transaction of a database. Either `commit` or `rollback` comes once, or `rollback` after a `commit` that rejected; `close` at last. */
export interface BegunTransaction {
  /** Builds statements, and runs them in the transaction as soon as they are asked for. */
  readonly db: Kysely<Tables>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
  close(): Promise<void>;
}

/** One try of a transaction: the work, what it left for the end, and then what waits for the commit. */
export async function runTransaction<T>(
  source: TransactionSource,
  work: (tx: Tx) => Promise<T>,
  { onCommit, isFirst = false }: TransactionOptions & { onCommit?: () => void } = {},
): Promise<T> {
  assertOutsideTransaction();
  const begun = await source.open({ isFirst });
  const inside = { open: true };
  try {
    const tx = new OpenTransaction(source, begun);
    const value = await transactions.run(inside, () => tx.perform(work, onCommit));
    inside.open = false;
    tx.tell();
    return value;
  } finally {
    // What was started inside and runs on is outside from here.
    inside.open = false;
    await begun.close();
  }
}

class OpenTransaction implements Tx {
  readonly dialect: Dialect;
  readonly db: Kysely<Tables>;
  readonly now: () => number;
  readonly #failsWhole: boolean;
  readonly #begun: BegunTransaction;
  readonly #before: (() => void | Promise<void>)[] = [];
  readonly #after: (() => void)[] = [];
  readonly #left: Promise<Failure | undefined>[] = [];

  constructor({ dialect, now, failsWhole }: TransactionSource, begun: BegunTransaction) {
    this.#failsWhole = failsWhole;
    this.#begun = begun;
    this.dialect = dialect;
    this.now = now;
    this.db = begun.db;
  }

  leave(statement: Promise<unknown>): void {
    this.#left.push(statement.then(nothing, toFailure));
  }

  beforeCommit(work: () => void | Promise<void>): void {
    this.#before.push(work);
  }

  afterCommit(work: () => void): void {
    this.#after.push(work);
  }

  tell(): void {
    for (const then of this.#after) then();
  }

  async perform<T>(work: (tx: Tx) => Promise<T>, onCommit: (() => void) | undefined): Promise<T> {
    try {
      const value = await work(this);
      for (const last of this.#before) await last();
      if (!this.#failsWhole) await this.#assertAllWell();
      onCommit?.();
      const committed = this.#begun.commit().then(nothing, toFailure);
      if (this.#failsWhole) await this.#assertAllWell();
      throwFirst([await committed]);
      return value;
    } catch (error) {
      const cause = firstOf([...(await Promise.all(this.#left)), { error }])?.error ?? error;
      // A connection on which not even that is possible is not used again.
      await this.#begun.rollback().catch(() => {});
      throw cause;
    }
  }

  async #assertAllWell(): Promise<void> {
    if (this.#left.length > 0) throwFirst(await Promise.all(this.#left));
  }
}

interface Failure {
  readonly error: unknown;
}

const nothing = (): undefined => undefined;
const toFailure = (error: unknown): Failure => ({ error });

/** What PostgreSQL says of statements after one that failed: the transaction is aborted, or the statement could not be kept. */
const AFTERMATH: ReadonlySet<unknown> = new Set(['25P02', '26000']);

/** The first that says what went wrong. */
function firstOf(failures: readonly (Failure | undefined)[]): Failure | undefined {
  const failed = failures.filter((one) => one !== undefined);
  return failed.find(({ error }) => !AFTERMATH.has((error as { code?: unknown } | null)?.code)) ?? failed[0];
}

function throwFirst(failures: readonly (Failure | undefined)[]): void {
  const failure = firstOf(failures);
  if (failure !== undefined) throw failure.error;
}
