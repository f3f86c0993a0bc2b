import type { QueryResult } from 'kysely';
import { type Connection, DatabaseError, type Submittable } from 'pg';
import { serialize } from 'pg-protocol';
import { isStaleStatement, toStoreError } from './postgres-error.ts';
import { toPostgresText } from './postgres-text.ts';
import { parserOf } from './postgres-types.ts';

/** One statement of a batch. Without a name it is parsed each time. */
export interface BatchStatement {
  readonly name: string | undefined;
  readonly text: string;
  readonly values: readonly unknown[];
  /** How many statements it replaces. The column `place` of each row says to which one the row belongs. */
  readonly parts?: number;
}

/** The columns that a prepared statement returns. They are read with its first run and cached. */
type Columns = readonly { readonly name: string; readonly parse: (text: string) => unknown }[];

/**
 * The statements that a connection has prepared, by name. If a statement failed in its first run, it is unknown whether
 * it is prepared. After one of them was found stale, the same holds for all.
 */
export type Prepared = Map<string, Columns | 'unsure'>;

/** The message that describes the columns of the following rows. */
interface RowDescription {
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[];
}

export interface Answer<Row> extends QueryResult<Row> {
  /** PostgreSQL's command tag: `UPDATE 3`, or ROLLBACK if COMMIT was requested and was not possible. */
  readonly tag: string;
  /** The rows of each statement that this one replaces. */
  readonly rowsByPart: readonly (readonly Row[])[] | undefined;
}

/** The statement of a batch that failed. Those behind it were skipped. */
export interface BatchFailure {
  readonly statement: BatchStatement;
  readonly error: unknown;
}

interface Sent extends BatchStatement {
  columns: Columns;
  readonly rows: Record<string, unknown>[];
  readonly rowsByPart: Record<string, unknown>[][] | undefined;
  readonly resolve: (answer: Answer<never>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Statements that are sent and answered together: PostgreSQL's extended protocol with a single Sync at the end. With a
 * Sync after each statement, the server would send each answer separately, and both processes would wake up for each.
 * A Sync also ends the skipping after an error:
 *
 *     gateway    BEGIN · lock · write · write · COMMIT · Sync
 *                               ✗ fails
 *     database   ✓       ✓      ✗       skipped  skipped  answers
 *
 * So no statement of a batch runs after one that failed, even if that was BEGIN.
 */
export class Batch implements Submittable {
  readonly #prepared: Prepared;
  readonly #onEnd: (failure?: BatchFailure) => void;
  readonly #statements: Sent[] = [];
  /** The index of the statement whose answer comes next. */
  #next = 0;
  #isSent = false;

  constructor(prepared: Prepared, onEnd: (failure?: BatchFailure) => void) {
    this.#prepared = prepared;
    this.#onEnd = onEnd;
  }

  add<Row>(statement: BatchStatement): Promise<Answer<Row>> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer<never>>();
    const values = statement.values.map(toPostgresText);
    this.#statements.push({
      ...statement,
      values,
      columns: [],
      rows: [],
      rowsByPart: toParts(statement),
      resolve,
      reject,
    });
    return promise as Promise<Answer<Row>>;
  }

  /**
   * Called by the driver when the connection is free. The messages are written as one buffer: separate writes to the
   * socket cost more than building the messages.
   */
  submit({ stream }: Connection): void {
    this.#isSent = true;
    const messages: Buffer[] = [];
    const parsed = new Set<string>();
    for (const statement of this.#statements) this.#serialize(messages, statement, parsed);
    messages.push(serialize.sync());
    if (stream.writable) stream.write(Buffer.concat(messages));
  }

  /** `parsed` contains the names of statements that this batch prepares. */
  #serialize(messages: Buffer[], statement: Sent, parsed: Set<string>): void {
    const { name = '', text, values } = statement;
    const known = this.#prepared.get(name);
    const columns = known === 'unsure' ? undefined : known;
    if (columns === undefined && !parsed.has(name)) {
      // Closing a statement that does not exist is not an error, but preparing one that exists is.
      if (known === 'unsure') messages.push(serialize.close({ type: 'S', name }));
      messages.push(serialize.parse({ name, text, types: [] }));
      if (name !== '') parsed.add(name);
    }
    messages.push(serialize.bind({ portal: '', statement: name, values: values as string[] }));
    if (columns === undefined) messages.push(serialize.describe({ type: 'P', name: '' }));
    else statement.columns = columns;
    messages.push(serialize.execute({ portal: '' }));
  }

  handleRowDescription({ fields }: RowDescription): void {
    const statement = this.#current();
    if (statement !== undefined) statement.columns = fields.map(toColumn);
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const statement = this.#current();
    if (statement === undefined) return;
    const row: Record<string, unknown> = {};
    let { rows } = statement;
    for (const [index, { name, parse }] of statement.columns.entries()) {
      const text = fields[index];
      const value = text === null || text === undefined ? null : parse(text);
      if (statement.rowsByPart === undefined || name !== 'place') row[name] = value;
      else rows = statement.rowsByPart[Number(value) - 1] ?? rows;
    }
    rows.push(row);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const statement = this.#current();
    this.#next++;
    if (statement === undefined) return;
    const { name, columns, rows, rowsByPart, resolve } = statement;
    if (name !== undefined) this.#prepared.set(name, columns);
    resolve({
      rows: rows as never[],
      rowsByPart: rowsByPart as never[][] | undefined,
      tag: text,
      // Computed on demand, because it is rarely read.
      get numAffectedRows() {
        return countOf(text);
      },
    });
  }

  /**
   * The current statement failed, or the connection broke. After a failed statement the server skips the rest. If the
   * connection broke, it is unknown which statements ran, unless nothing had been sent yet.
   */
  handleError(error: unknown): void {
    const [failed, ...skipped] = this.#statements.slice(this.#next);
    if (isStaleStatement(error)) for (const name of this.#prepared.keys()) this.#prepared.set(name, 'unsure');
    if (failed?.name !== undefined && !this.#prepared.has(failed.name)) this.#prepared.set(failed.name, 'unsure');
    this.#next = this.#statements.length;
    const reason = this.#isSent ? error : new StatementNotSent(error);
    failed?.reject(toStoreError(reason));
    const behind = isAnswerOfServer(error) ? new StatementSkipped(error) : reason;
    for (const { reject } of skipped) reject(toStoreError(behind));
    this.#onEnd(failed === undefined ? undefined : { statement: failed, error });
  }

  handleReadyForQuery(): void {
    this.#onEnd();
  }

  #current(): Sent | undefined {
    return this.#statements[this.#next];
  }
}

/** A proxy that lost the server also sends errors, of class 08. Then it is unknown what the server has done. */
function isAnswerOfServer(error: unknown): boolean {
  return error instanceof DatabaseError && error.code?.startsWith('08') !== true;
}

/** A statement was not run, because the connection was gone before it could be sent. */
class StatementNotSent extends Error {
  readonly code = 'unsent';

  constructor(cause: unknown) {
    super('The statement was not sent, because the connection is gone.', { cause });
  }
}

/** A statement was not run, because one before it failed. */
export class StatementSkipped extends Error {
  readonly code = 'undone';

  constructor(cause: unknown) {
    super('The statement was not run, because one before it failed.', { cause });
  }
}

function toParts({ parts }: BatchStatement): Record<string, unknown>[][] | undefined {
  return parts === undefined ? undefined : Array.from({ length: parts }, () => []);
}

function toColumn({ name, dataTypeID }: RowDescription['fields'][number]): Columns[number] {
  return { name, parse: parserOf(dataTypeID) };
}

/** Not every command tag has a row count: compare `INSERT 0 3` and `LOCK TABLE`. */
function countOf(tag: string): bigint {
  return BigInt(/\d+$/.exec(tag)?.[0] ?? 0);
}
