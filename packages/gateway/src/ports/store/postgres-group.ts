import type { Kysely, QueryResult } from 'kysely';
import { nameOfStatement } from './compiled-once.ts';
import type { BatchingConnection, BatchingDriver } from './postgres-driver.ts';
import type { BegunTransaction } from './run-transaction.ts';
import type { SeveralForm } from './several.ts';
import type { FilledQuery } from './statement.ts';
import type { Tables } from './tables.ts';

/**
 * Several transactions inside one transaction of PostgreSQL. Their code does not know of it; statements that members send at the same
 * time and that differ in their values only are run as one (several.ts).
 *
 *     member a     claim a · read a          run a · events a     COMMIT a ┐
 *     member b     claim b · read b          run b · events b     COMMIT b ┤ the last one commits for all
 *     database     claim a, b · read a, b    run a, b · channels of both · COMMIT
 *
 * The contract, each clause with a test in `postgres-groups.test.ts`:
 *
 * 1. All members are committed or none. A member resolves when the commit is durable; nobody is told earlier.
 * 2. If anything fails that may have written, all are undone, and each runs again alone: what fails alone is that one's own failure.
 *    A member that has written nothing leaves by itself, and runs again alone.
 * 3. If it is unknown whether the commit was made, each member says so, and nobody runs again.
 * 4. Statements of a member are run in its order. A statement never changes the same row for two members: the second one follows it.
 * 5. Rows are locked in the order of their keys, and the numbers of streams are drawn last, with the commit.
 */
export class PostgresGroup {
  readonly #driver: BatchingDriver;
  readonly #connection: BatchingConnection;
  readonly #on: BegunTransaction['on'];
  readonly #db: Kysely<Tables>;
  readonly #members: Member[] = [];
  readonly #committed = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();
  #state: 'open' | 'committing' | 'undone' = 'open';

  constructor(
    driver: BatchingDriver,
    connection: BatchingConnection,
    { db, on }: { readonly db: Kysely<Tables>; readonly on: BegunTransaction['on'] },
  ) {
    this.#driver = driver;
    this.#connection = connection;
    this.#db = db;
    this.#on = on;
    // Each member awaits it by itself; without members the rejection would be unhandled.
    this.#committed.promise.catch(() => {});
    connection.onSend = () => this.#send();
    driver.beginTransaction(connection).catch(() => this.#undo());
  }

  /** Resolves when the last member is gone, and the connection is free. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** All join before any of them begins. */
  join(key: string): BegunTransaction {
    const member: Member = { waiting: [], status: 'working', hasWritten: false };
    this.#members.push(member);
    return {
      groupKey: key,
      connection: {
        executeQuery: (query) => this.#add(member, query as FilledQuery),
        streamQuery: () => this.#connection.streamQuery(),
      },
      on: this.#on,
      commit: async () => {
        member.status = 'done';
        this.#connection.schedule();
        await this.#committed.promise;
      },
      fail: () => {
        if (member.waiting.some(({ query }) => query.several?.isLast === true)) this.#undo();
      },
      rollback: async () => this.#leave(member),
      close: async () => this.#close(member),
    };
  }

  #add<Row>(member: Member, query: FilledQuery): Promise<QueryResult<Row>> {
    if (this.#state === 'undone') return Promise.reject(new GroupUndone());
    const answered = Promise.withResolvers<QueryResult<never>>();
    member.waiting.push({ member, query, answered });
    this.#connection.schedule();
    return answered.promise as Promise<QueryResult<Row>>;
  }

  /** Its statements have all been answered by now. */
  #leave(member: Member): void {
    if (member.hasWritten || member.status === 'done') this.#undo();
    member.status = 'done';
    this.#connection.schedule();
  }

  #undo(): void {
    if (this.#state !== 'open') return;
    this.#state = 'undone';
    this.#committed.reject(new GroupUndone());
    for (const { waiting } of this.#members)
      for (const { answered } of waiting.splice(0)) answered.reject(new GroupUndone());
  }

  async #close(member: Member): Promise<void> {
    member.status = 'gone';
    if (this.#members.some(({ status }) => status !== 'gone')) return;
    this.#connection.onSend = undefined;
    // A connection that cannot even roll back is not used again.
    if (this.#state !== 'committing') await this.#driver.rollbackTransaction(this.#connection).catch(() => {});
    this.#ended.resolve();
  }

  /** Called when a batch can be sent: all that the members have asked for by then is in it. */
  #send(): void {
    for (let next = this.#takeNext(); next.length > 0; next = this.#takeNext()) this.#run(next);
    if (this.#state !== 'open' || !this.#isLast) return;
    this.#state = 'committing';
    this.#driver.commitTransaction(this.#connection).then(this.#committed.resolve, (error: unknown) => {
      this.#state = 'undone';
      this.#committed.reject(error);
    });
  }

  /** Nobody will ask for anything more. */
  get #isLast(): boolean {
    return this.#members.every(({ status }) => status !== 'working');
  }

  /** The statements that are run next, as one. */
  #takeNext(): readonly Waiting[] {
    const first = this.#findNext();
    if (first === undefined) return [];
    const { several } = first.query;
    if (several === undefined) return first.member.waiting.splice(0, 1);
    const keys = new Set<string>();
    return this.#members.flatMap(({ waiting }) => takeSame(waiting, several, keys));
  }

  /** A statement that others will come to waits for them, so that it is run for all at once. */
  #findNext(): Waiting | undefined {
    const heads = this.#members.flatMap(({ waiting: [head] }) => (head === undefined ? [] : [head]));
    const ready = this.#isLast ? heads : heads.filter((head) => !isHeldBack(head));
    return ready.find(({ query: { several } }) => !this.#isAhead(several)) ?? ready[0];
  }

  #isAhead(several: SeveralForm | undefined): boolean {
    if (several === undefined) return false;
    return this.#members.some(
      ({ waiting }) => waiting[0]?.query.several !== several && waiting.some(({ query }) => query.several === several),
    );
  }

  #run(taken: readonly Waiting[]): void {
    const [first] = taken as readonly [Waiting];
    const { several } = first.query;
    if (several === undefined || taken.length === 1) {
      this.#ask(first.query, taken, {});
      return;
    }
    const sorted = sortByKey(taken, several);
    const values = sorted.map(({ query }) => query.values);
    this.#ask(several.withValues(this.#db, values), sorted, { parts: sorted.length });
  }

  #ask(
    { sql, parameters }: Pick<FilledQuery, 'sql' | 'parameters'>,
    asking: readonly Waiting[],
    parts: { readonly parts?: number },
  ): void {
    const asked = this.#connection.run<never>({ name: nameOfStatement(sql), text: sql, values: parameters, ...parts });
    asked.then(
      (answer) => {
        for (const [part, one] of asking.entries()) tell(one, partOf(answer, part));
      },
      (error: unknown) => {
        for (const { answered } of asking) answered.reject(error);
        this.#undo();
      },
    );
  }
}

interface Member {
  /** What it has asked for and was not sent yet, in its order. */
  readonly waiting: Waiting[];
  status: 'working' | 'done' | 'gone';
  hasWritten: boolean;
}

interface Waiting {
  readonly member: Member;
  readonly query: FilledQuery;
  readonly answered: PromiseWithResolvers<QueryResult<never>>;
}

/** What comes last waits for the last member, unless its own one has asked for something behind it. */
function isHeldBack({ member }: Waiting): boolean {
  return member.waiting.every(({ query }) => query.several?.isLast === true);
}

/** Takes all of the same statement that a member has next, unless another one has the same key. */
function takeSame(waiting: Waiting[], several: SeveralForm, keys: Set<string>): readonly Waiting[] {
  const other = waiting.findIndex(({ query }) => {
    const key = query.several === several ? several.keyOf(query.values) : undefined;
    const isSame = query.several === several && (key === undefined || !keys.has(key));
    if (isSame && key !== undefined) keys.add(key);
    return !isSame;
  });
  return waiting.splice(0, other === -1 ? waiting.length : other);
}

/** Two transactions that lock several rows lock them in the same order, and never wait for each other. */
function sortByKey(taken: readonly Waiting[], several: SeveralForm): readonly Waiting[] {
  const keyed = taken.map((one) => ({ one, key: several.keyOf(one.query.values) ?? '' }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ one }) => one);
}

type GroupAnswer = Awaited<ReturnType<typeof BatchingConnection.prototype.run<never>>>;

function partOf(answer: GroupAnswer, part: number): QueryResult<never> {
  const rows = answer.rowsByPart?.[part];
  return rows === undefined ? answer : { rows: rows as never[], numAffectedRows: BigInt(rows.length) };
}

function tell({ member, query, answered }: Waiting, answer: QueryResult<never>): void {
  member.hasWritten ||= mayHaveWritten(query, answer);
  answered.resolve(answer);
}

/** An update that found no row has written nothing: a claim of a thread that somebody else holds. */
function mayHaveWritten({ query, several }: FilledQuery, { numAffectedRows }: QueryResult<never>): boolean {
  if (several?.isRead === true || query.kind === 'SelectQueryNode') return false;
  return query.kind !== 'UpdateQueryNode' || numAffectedRows !== 0n;
}

/** A transaction of the group failed, and all of them were undone. */
class GroupUndone extends Error {
  readonly code = 'undone';

  constructor() {
    super('The transaction was undone together with others, one of which failed.');
  }
}
