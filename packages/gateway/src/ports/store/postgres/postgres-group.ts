import type { Kysely, QueryResult } from 'kysely';
import { nameOfStatement } from '../compiled-once.ts';
import type { BegunTransaction } from '../run-transaction.ts';
import type { Tables } from '../schema/tables.ts';
import type { SeveralForm } from '../several.ts';
import type { FilledQuery } from '../statement.ts';
import type { BatchingConnection, BatchingDriver } from './postgres-driver.ts';

/**
 * Several transactions inside one transaction of PostgreSQL. Their code need not know about it. If members send the
 * same statement at the same time with different values, it runs once for all of them (several.ts).
 *
 *     member a     claim a · read a          run a · events a     COMMIT a ┐
 *     member b     claim b · read b          run b · events b     COMMIT b ┤ the last one commits for all
 *     database     claim a, b · read a, b    run a, b · streams of both · COMMIT
 *
 * The contract. Clauses 1 to 5 have tests in `postgres-groups.test.ts`, and clause 6 in `shared-replies.test.ts` and
 * `shared-claims.test.ts`:
 *
 * 1. Either all members are committed or none. A member resolves when the commit is durable, not earlier.
 * 2. If a member fails that may have written, all are undone, and each runs again alone: an error in that run is its
 *    own. If the failed member has written nothing, only that member leaves, and runs again alone.
 * 3. If it is unknown whether the commit was made, each member reports that, and none runs again.
 * 4. The statements of a member run in their order. A statement never changes the same row for two members: the second
 *    change is another statement after it.
 * 5. Rows are locked in the order of their keys. The numbers of stream events are allocated last, with the commit.
 * 6. A group never waits for the lock of a space or a membership, which others may hold for long: the member that needs it
 *    leaves, and waits for it alone (lock-space.ts, waking-space.ts). What it had locked is free again with the end of the
 *    group. A claim that needs a membership has written before, so clause 2 holds: all are undone.
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
    // Each member awaits this promise. Without members its rejection would be unhandled.
    this.#committed.promise.catch(() => {});
    connection.onSend = () => this.#send();
    driver.beginTransaction(connection).catch(() => this.#undo());
  }

  /** Resolves when the last member has closed and the connection is free. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** All members join before any of them begins. */
  join(keys: readonly string[]): BegunTransaction {
    const member: Member = { waiting: [], status: 'working', hasWritten: false };
    this.#members.push(member);
    return {
      groupKeys: keys,
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

  /** Called after all statements of the member were answered. */
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
    // If even the rollback fails, the connection is not used again.
    if (this.#state !== 'committing') await this.#driver.rollbackTransaction(this.#connection).catch(() => {});
    this.#ended.resolve();
  }

  /** Called when a batch can be sent. It contains all statements that the members have added so far. */
  #send(): void {
    for (let next = this.#takeNext(); next.length > 0; next = this.#takeNext()) this.#run(next);
    if (this.#state !== 'open' || !this.#isLast) return;
    this.#state = 'committing';
    this.#driver.commitTransaction(this.#connection).then(this.#committed.resolve, (error: unknown) => {
      this.#state = 'undone';
      this.#committed.reject(error);
    });
  }

  /** True if no member will send another statement. */
  get #isLast(): boolean {
    return this.#members.every(({ status }) => status !== 'working');
  }

  /** Takes the statements that run next, combined into one. */
  #takeNext(): readonly Waiting[] {
    const first = this.#findNext();
    if (first === undefined) return [];
    const { several } = first.query;
    if (several === undefined) return first.member.waiting.splice(0, 1);
    const keys = new Set<string>();
    return this.#members.flatMap(({ waiting }) => takeSame(waiting, several, keys));
  }

  /**
   * Finds the next statement to run. If other members have the same statement further back in their queues, it waits
   * for them, so that one statement can run for all.
   */
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
  /** The member's statements that are not sent yet, in order. */
  readonly waiting: Waiting[];
  status: 'working' | 'done' | 'gone';
  hasWritten: boolean;
}

interface Waiting {
  readonly member: Member;
  readonly query: FilledQuery;
  readonly answered: PromiseWithResolvers<QueryResult<never>>;
}

/**
 * True for a statement that has to come last: it waits for the last member, unless its own member has queued something
 * else after it.
 */
function isHeldBack({ member }: Waiting): boolean {
  return member.waiting.every(({ query }) => query.several?.isLast === true);
}

/** Takes consecutive statements of the same form from a member's queue, up to one whose key is already taken. */
function takeSame(waiting: Waiting[], several: SeveralForm, keys: Set<string>): readonly Waiting[] {
  const other = waiting.findIndex(({ query }) => {
    const key = query.several === several ? several.keyOf(query.values) : undefined;
    const isSame = query.several === several && (key === undefined || !keys.has(key));
    if (isSame && key !== undefined) keys.add(key);
    return !isSame;
  });
  return waiting.splice(0, other === -1 ? waiting.length : other);
}

/** All transactions lock several rows in the same order, so they cannot deadlock. */
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

/** False for an update that found no row, such as the claim of a thread that another worker holds. */
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
