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
/** How many groups of a queue run at once, at most. */
const MOST_GROUPS = 2;
/**
 * A second group starts beside a quick one only if this many transactions wait. Then the gateway prepares one group while the database
 * works on the other. With fewer, groups would get small, and each transaction would cost more.
 */
const ENOUGH_FOR_SECOND = 12;
/** If a second group gets no connection, the queue makes do with one group for this time. */
const WITHOUT_SECOND_MS = 1_000;

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
 * Decides which transactions form a group (postgres-group.ts). Transactions that arrive while a group runs have to wait, and form the
 * next group. So a single transaction begins at once, and groups get larger under load. At most two groups of a queue run at once. The
 * next one starts when:
 *
 * - no other group of its queue runs, or
 * - the other one has taken longer than 20 ms: it may wait for a lock or for its connection, or
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

interface RunningGroup {
  /** `forming` until it has a connection and its members, but not longer than 20 ms. `slow` after 20 ms of either. */
  state: 'forming' | 'quick' | 'slow';
}

class Line {
  readonly #ranks: Ranks;
  readonly #driver: BatchingDriver;
  readonly #context: GroupContext;
  #seats: Seat[] = [];
  readonly #groups = new Set<RunningGroup>();
  /** No second group starts before this time. */
  #secondAfter = Number.NEGATIVE_INFINITY;

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
    if (!this.#mayStart) return;
    const group: RunningGroup = { state: 'forming' };
    this.#groups.add(group);
    process.nextTick(() => void this.#run(group));
  }

  get #mayStart(): boolean {
    if (this.waiting === 0 || this.#groups.size >= MOST_GROUPS || this.#has('forming')) return false;
    if (!this.#has('quick')) return true;
    return this.waiting >= ENOUGH_FOR_SECOND && performance.now() >= this.#secondAfter;
  }

  #has(state: RunningGroup['state']): boolean {
    return [...this.#groups].some((group) => group.state === state);
  }

  async #run(group: RunningGroup): Promise<void> {
    let timer = this.#slowLater(group);
    try {
      const connection = await this.#driver.acquireConnection().catch((error: unknown) => this.#giveUp(error));
      if (connection === undefined) return;
      clearTimeout(timer);
      timer = this.#slowLater(group);
      group.state = 'quick';
      const seats = this.#takeSeats();
      this.#schedule();
      // If the connection came late, another group may have taken them.
      if (seats.length > 0) await this.#seat(seats, connection);
      await this.#driver.releaseConnection(connection);
    } finally {
      clearTimeout(timer);
      this.#groups.delete(group);
      this.#schedule();
    }
  }

  #slowLater(group: RunningGroup): NodeJS.Timeout {
    return setTimeout(() => {
      group.state = 'slow';
      this.#schedule();
    }, SLOW_MS);
  }

  /**
   * There is no connection. A quick group that has one is followed by a group of those that wait. Without it, each of them runs alone and
   * reports its own error.
   */
  #giveUp(error: unknown): undefined {
    if (this.#has('quick')) this.#secondAfter = performance.now() + WITHOUT_SECOND_MS;
    else for (const { taken } of this.#seats.splice(0)) taken.reject(error);
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
