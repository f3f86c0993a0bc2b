import { AsyncLocalStorage } from 'node:async_hooks';
import { AbortedTransactionError, type DatabaseConnection, type Kysely } from 'kysely';
import type { GatewayLimits } from '../../config/limits.ts';
import type { NewStreamEvent } from '../bus/bus.ts';
import type { Dialect } from './dialect.ts';
import { type EmittedEvent, toEmittedEvent, writeEmittedEvents } from './emitted-events.ts';
import { type Failure, isFollowUpError, throwFirst } from './follow-up-error.ts';
import type { Tables } from './schema/tables.ts';
import type { Statement } from './statement.ts';
import type { Sent, TransactionOptions, Tx, WakeOptions } from './store.ts';
import { StoreMisuse, StoreUnavailable } from './store-error.ts';
import type { StoreParts } from './store-parts.ts';

const transactions = new AsyncLocalStorage<{ open: boolean }>();

/**
 * Throws if code inside a transaction asks for a second connection. With one connection it would wait for itself for
 * ever; with several it would not see its own writes, and transactions could wait for each other when no connection is
 * left.
 */
export function assertOutsideTransaction(): void {
  if (transactions.getStore()?.open === true)
    throw new StoreMisuse('The store was used inside a transaction: use the transaction (tx.db).');
}

/** How a database runs transactions. */
export interface TransactionSource {
  readonly dialect: Dialect;
  readonly now: () => number;
  /**
   * True if a failed statement leaves nothing to commit. Then the commit is sent together with the last statements,
   * without waiting for their answers.
   */
  readonly abortsOnError: boolean;
  readonly parts: StoreParts;
  /** Waits for its turn and begins a transaction. */
  open(options: { isUrgent: boolean }): Promise<BegunTransaction>;
}

/**
 * A transaction of a database. Call `commit` or `rollback` once, or `rollback` after a `commit` that rejected, and
 * `close` at the end.
 */
export interface BegunTransaction {
  readonly connection: DatabaseConnection;
  /** The rows that a member of a group may lock. */
  readonly groupKeys?: readonly string[];
  /** Resolves when the transaction has begun, if that is not known yet. */
  readonly begun?: Promise<unknown>;
  /** Builds statements, and runs them on that connection immediately. */
  on(connection: DatabaseConnection): Kysely<Tables>;
  commit(): Promise<void>;
  /** The work has failed. Statements that wait for other members are answered, so that `rollback` can follow. */
  fail?(): void;
  rollback(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Runs a transaction once: the work, then the `beforeCommit` callbacks, the commit, and the `afterCommit` callbacks.
 */
export async function runTransaction<T>(
  source: TransactionSource,
  work: (tx: Tx) => Promise<T>,
  { onDoubt, isUrgent = false }: TransactionOptions & { onDoubt?: () => void } = {},
): Promise<T> {
  assertOutsideTransaction();
  const begun = await source.open({ isUrgent });
  const inside = { open: true };
  try {
    const tx = new OpenTransaction(source, begun);
    const value = await transactions.run(inside, () => tx.perform(work, onDoubt));
    inside.open = false;
    tx.tell();
    return value;
  } finally {
    // Work that was started in the transaction and still runs is outside of it from now on.
    inside.open = false;
    await begun.close();
  }
}

class OpenTransaction implements Tx {
  readonly dialect: Dialect;
  readonly now: () => number;
  readonly limits: GatewayLimits;
  readonly #abortsOnError: boolean;
  readonly #parts: StoreParts;
  readonly #begun: BegunTransaction;
  readonly #before: (() => void | Promise<void>)[] = [];
  readonly #after: (() => void)[] = [];
  /** The errors of statements that were sent and not awaited, each at the place of its statement. BEGIN is first. */
  readonly #failures: (Failure | undefined)[] = [];
  #sent = 0;
  #answered = 0;
  #onAllAnswered: (() => void) | undefined;
  #events: EmittedEvent[] | undefined;
  #isOver = false;
  isDurable = false;
  #db: Kysely<Tables> | undefined;

  constructor({ dialect, now, abortsOnError, parts }: TransactionSource, begun: BegunTransaction) {
    this.#abortsOnError = abortsOnError;
    this.#parts = parts;
    this.#begun = begun;
    this.limits = parts.limits;
    this.dialect = dialect;
    this.now = now;
    if (begun.begun !== undefined) this.#follow(begun.begun, nothing);
  }

  /** Created on demand: many transactions only send compiled statements. */
  get db(): Kysely<Tables> {
    this.#db ??= this.#begun.on(this.#whileOpen(this.#begun.connection));
    return this.#db;
  }

  send<Values extends object, Row>(
    statement: Statement<Values, Row>,
    values: Values,
    toError: (error: unknown) => unknown = itself,
  ): Sent<Row> {
    const query = statement.withValues(this, values);
    if (this.#isOver) throw over();
    const sent = new SentStatement<Row>(this);
    this.#follow(this.#begun.connection.executeQuery<Row>(query), (result) => sent.keep(result), toError);
    return sent;
  }

  /** Counts the answers instead of collecting promises: most have come when the transaction asks for them. */
  #follow<T>(answer: Promise<T>, keep: (result: T) => void, toError: (error: unknown) => unknown = itself): void {
    const place = this.#sent++;
    answer.then(
      (result) => {
        keep(result);
        this.#countAnswer();
      },
      (error: unknown) => {
        this.#failures[place] = failureOf(error, toError);
        this.#countAnswer();
      },
    );
  }

  #countAnswer(): void {
    if (++this.#answered === this.#sent) this.#onAllAnswered?.();
  }

  /** The connection. It refuses statements once the transaction is over. */
  #whileOpen(connection: DatabaseConnection): DatabaseConnection {
    return {
      executeQuery: (query) => (this.#isOver ? Promise.reject(over()) : connection.executeQuery(query)),
      streamQuery: (...given) => connection.streamQuery(...given),
    };
  }

  runAlone(lockedId?: string): void {
    const { groupKeys } = this.#begun;
    if (groupKeys !== undefined && (lockedId === undefined || !groupKeys.includes(lockedId))) throw new RunsAlone();
  }

  get isShared(): boolean {
    return this.#begun.groupKeys !== undefined;
  }

  emit(newEvent: NewStreamEvent): void {
    const event = toEmittedEvent(newEvent);
    if (this.#events !== undefined) {
      this.#events.push(event);
      return;
    }
    const events = [event];
    this.#events = events;
    this.#before.push(() => {
      const written = writeEmittedEvents(this, events);
      this.#after.push(() => this.#parts.bus.publish(written()));
    });
  }

  wake(threadId: string, options?: WakeOptions): void {
    this.#after.push(() => this.#parts.scheduler.enqueue(threadId, options));
  }

  beforeCommit(work: () => void | Promise<void>): void {
    this.#before.push(work);
  }

  afterCommit(work: () => void): void {
    this.#after.push(work);
  }

  async perform<T>(work: (tx: Tx) => Promise<T>, onDoubt: (() => void) | undefined): Promise<T> {
    try {
      const value = await work(this);
      for (const last of this.#before) {
        // Most callbacks only send statements and return nothing to wait for.
        const working = last();
        if (working !== undefined) await working;
      }
      if (!this.#abortsOnError && this.#sent > 0) throwFirst(await this.#end());
      await this.#commit(onDoubt);
      return value;
    } catch (error) {
      this.#begun.fail?.();
      const failures = [...(await this.#end()), { error }];
      // If even the rollback fails, the connection is not used again.
      await this.#begun.rollback().catch(() => {});
      throwFirst(failures);
      throw error;
    }
  }

  async #commit(onDoubt: (() => void) | undefined): Promise<void> {
    this.#isOver = true;
    const committing = this.#begun.commit().then(nothing, toFailure);
    const failures = await this.#end();
    const committed = await committing;
    // The commit may have been made, unless the database says that it was not or never received it.
    if (committed !== undefined && !isUndone(committed.error)) onDoubt?.();
    throwFirst([...failures, committed]);
  }

  /** Refuses further statements, and waits for those that were sent. */
  async #end(): Promise<readonly (Failure | undefined)[]> {
    this.#isOver = true;
    if (this.#answered < this.#sent) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#onAllAnswered = resolve;
      await promise;
    }
    return this.#failures;
  }

  /** Runs the `afterCommit` callbacks. The transaction is already durable, so their errors are only warnings. */
  tell(): void {
    this.isDurable = true;
    for (const work of this.#after) {
      try {
        work();
      } catch (error) {
        process.emitWarning(error instanceof Error ? error : String(error));
      }
    }
  }
}

/** The transaction was a member of a group and has to run alone. */
class RunsAlone extends Error {
  constructor() {
    super('The transaction locks a row that it cannot lock in a group, and runs again alone.');
  }
}

class SentStatement<Row> implements Sent<Row> {
  readonly #tx: OpenTransaction;
  #rows: readonly Row[] | undefined;

  constructor(tx: OpenTransaction) {
    this.#tx = tx;
  }

  // SQLite may have answered at this point, PostgreSQL has not. Code must work with both, so reading early always throws.
  get rows(): readonly Row[] {
    if (!this.#tx.isDurable || this.#rows === undefined)
      throw new StoreMisuse('The rows of a sent statement are known after the commit: read them in afterCommit.');
    return this.#rows;
  }

  keep({ rows }: { readonly rows: readonly Row[] }): void {
    this.#rows = rows;
  }
}

function isUndone(error: unknown): boolean {
  return error instanceof AbortedTransactionError || isFollowUpError(error) || isUnsent(error);
}

/** True if nothing was sent, because the connection was already gone. */
function isUnsent(error: unknown): boolean {
  return error instanceof StoreUnavailable && (error.cause as { code?: unknown } | null)?.code === 'unsent';
}

const over = (): StoreMisuse =>
  new StoreMisuse('The transaction is over: await its statements, or send them, before it ends.');
const nothing = (): undefined => undefined;
const itself = (error: unknown): unknown => error;
const toFailure = (error: unknown): Failure => ({ error });

function failureOf(error: unknown, toError: (error: unknown) => unknown): Failure {
  try {
    return toFailure(toError(error));
  } catch (thrown) {
    return toFailure(thrown);
  }
}
