import type { Kysely } from 'kysely';
import type { BegunTransaction } from '../run-transaction.ts';
import type { Tables } from '../schema/tables.ts';
import type { GroupOptions } from '../store.ts';
import type { BatchingConnection, BatchingDriver } from './postgres-driver.ts';
import { PostgresGroup } from './postgres-group.ts';

/** With more members, the first one would wait too long, and little would be saved. */
const MOST_MEMBERS = 24;
/** After this time, a group no longer keeps the next group from starting: it may be waiting for a lock. */
const SLOW_MS = 20;
/** How many groups of a queue run at once. */
const MOST_GROUPS = 2;
/**
 * A second group starts beside a quick one only if this many transactions wait. Then the gateway prepares one group while the database
 * works on the other. Smaller groups would cost both of them more.
 */
const ENOUGH_FOR_SECOND = 12;

type Kind = GroupOptions['kind'];
/** Of the kinds of a rank, that of the transaction which has waited longest is next. A rank goes ahead of those after it. */
type Ranks = readonly (readonly Kind[])[];

/** Work in progress goes before new work: otherwise unfinished runs would pile up. */
const LINES: Readonly<Record<string, Ranks>> = {
  runs: [['journal', 'reply'], ['claim']],
  posts: [['post', 'event']],
};

/** How many connections the groups use at most. */
export const GROUP_CONNECTIONS: number = Object.keys(LINES).length * MOST_GROUPS;

/**
 * Decides which transactions form a group (postgres-group.ts). Transactions that arrive while a group runs wait and form the
 * next group. So a single transaction begins at once, and groups get larger under load. The next group starts when:
 *
 * - no other group of its queue runs, or
 * - the one that runs has taken longer than 20 ms, or
 * - at least twelve transactions wait.
 */
export class PostgresGroups {
  readonly #lines: readonly Line[];

  constructor(driver: BatchingDriver, context: GroupContext) {
    this.#lines = Object.values(LINES).map((ranks) => new Line(ranks, driver, context));
  }

  /** Waits for a place in a group, and begins the transaction. */
  open(options: GroupOptions): Promise<BegunTransaction> {
    const line = this.#lines.find((one) => one.takes(options.kind)) as Line;
    return line.open(options);
  }

  /** True if enough runs wait to fill a group. */
  get isBusy(): boolean {
    return this.#lines[0] !== undefined && this.#lines[0].waiting >= MOST_MEMBERS;
  }
}

interface GroupContext {
  readonly db: Kysely<Tables>;
  readonly on: BegunTransaction['on'];
}

interface Seat extends GroupOptions {
  readonly taken: PromiseWithResolvers<BegunTransaction>;
}

class Line {
  readonly #ranks: Ranks;
  readonly #driver: BatchingDriver;
  readonly #context: GroupContext;
  #seats: Seat[] = [];
  /** The number of groups that are not slow yet, and of all. */
  readonly #running = { quick: 0, all: 0 };
  /** True from the decision to start a group until it has its members. */
  #isForming = false;

  constructor(ranks: Ranks, driver: BatchingDriver, context: GroupContext) {
    this.#ranks = ranks;
    this.#driver = driver;
    this.#context = context;
  }

  takes(kind: Kind): boolean {
    return this.#ranks.some((kinds) => kinds.includes(kind));
  }

  get waiting(): number {
    return this.#seats.length;
  }

  open(options: GroupOptions): Promise<BegunTransaction> {
    const taken = Promise.withResolvers<BegunTransaction>();
    const behind = options.isFirst === true ? this.#seats.findIndex((seat) => seat.isFirst !== true) : -1;
    this.#seats.splice(behind === -1 ? this.#seats.length : behind, 0, { ...options, taken });
    this.#schedule();
    return taken.promise;
  }

  /** Starts a group after all code that is ready now has queued its transaction. */
  #schedule(): void {
    if (this.#isForming || !this.#mayStart) return;
    this.#isForming = true;
    process.nextTick(() => void this.#run());
  }

  get #mayStart(): boolean {
    const { quick, all } = this.#running;
    if (this.waiting === 0 || all >= MOST_GROUPS) return false;
    return quick === 0 || this.waiting >= ENOUGH_FOR_SECOND;
  }

  async #run(): Promise<void> {
    const running = this.#running;
    let isQuick = true;
    const slowDown = (): void => {
      if (isQuick) running.quick--;
      isQuick = false;
    };
    running.quick++;
    running.all++;
    const timer = setTimeout(() => {
      slowDown();
      this.#schedule();
    }, SLOW_MS);
    await this.#runGroup();
    clearTimeout(timer);
    slowDown();
    running.all--;
    this.#schedule();
  }

  async #runGroup(): Promise<void> {
    const connection = await this.#driver.acquireConnection().catch((error: unknown) => this.#sendAway(error));
    // Only one group forms at a time, so those that it was started for still wait.
    const seats = connection === undefined ? [] : this.#takeSeats();
    this.#isForming = false;
    if (connection === undefined) return;
    this.#schedule();
    await this.#seat(seats, connection);
    await this.#driver.releaseConnection(connection);
  }

  /** There is no connection. Each transaction runs alone and reports its own error. */
  #sendAway(error: unknown): undefined {
    for (const { taken } of this.#seats.splice(0)) taken.reject(error);
  }

  async #seat(seats: readonly Seat[], connection: BatchingConnection): Promise<void> {
    const group = new PostgresGroup(this.#driver, connection, this.#context);
    const members = seats.map(({ keys }) => group.join(keys));
    for (const [index, { taken }] of seats.entries()) taken.resolve(members[index] as BegunTransaction);
    await group.ended;
  }

  /**
   * Takes the first waiting transactions of one kind. Two with a key in common are never in one group, because their locks
   * would not keep them apart.
   */
  #takeSeats(): readonly Seat[] {
    const ranked = this.#ranks.map((kinds) => this.#seats.find((seat) => kinds.includes(seat.kind)));
    const kind = ranked.find((seat) => seat !== undefined)?.kind;
    const [taken, left, locked]: [Seat[], Seat[], Set<string>] = [[], [], new Set()];
    for (const seat of this.#seats) {
      const fits = seat.kind === kind && taken.length < MOST_MEMBERS && !seat.keys.some((key) => locked.has(key));
      (fits ? taken : left).push(seat);
      if (fits) for (const key of seat.keys) locked.add(key);
    }
    this.#seats = left;
    return taken;
  }
}
