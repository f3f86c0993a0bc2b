import type { DatabaseSync } from 'node:sqlite';
import { StoreUnavailable } from '../store-error.ts';

/**
 * Syncs SQLite's write-ahead log to the disk on another thread. With `synchronous = full` SQLite would do it in COMMIT, on the
 * thread that does everything else, and the gateway would stand still until the disk has answered.
 *
 *     commits    1 ── 2 ── 3 ── 4 ── 5          in the log, and visible to later transactions
 *     syncs        └─── 1 ───▶└─── 2–4 ───▶└─── 5 ───▶
 *     resolved                1          2–4         5
 *
 * The contract, each clause with a test in `log-sync.test.ts`:
 *
 * 1. The caller of a transaction or a read gets no outcome and no rows before they would survive a power cut: both wait for
 *    `durable`. The log keeps the order of commits, so a commit that survives proves that all before it do.
 * 2. One sync runs at a time. It covers the commits made before it began; those made while it runs share the next one.
 * 3. After a failed sync it is unknown what is on the disk, and a second try could succeed without writing anything. So all
 *    callers that wait learn that their outcome is unknown, and the store refuses everything until the next start.
 */
export class LogSync {
  readonly #write: () => Promise<void>;
  readonly #countChanges: () => unknown;
  /** What SQLite counted when the last commit was noticed. Undefined at first: what was written before was not synced. */
  #changes: unknown;
  #commits = 0;
  #synced = 0;
  #isSyncing = false;
  #failure: Error | undefined;
  /** In the order of their commits. */
  readonly #waiting: { readonly commit: number; readonly caller: PromiseWithResolvers<void> }[] = [];

  /** `write` syncs the log's file. */
  constructor(database: DatabaseSync, write: () => Promise<void>) {
    this.#write = write;
    const statement = database.prepare('select total_changes() as changes');
    this.#countChanges = () => statement.get()?.changes;
  }

  /**
   * Resolves when everything that is committed now is on the disk; undefined if it is there already. Call it while no
   * transaction is open: its changes would count as committed.
   */
  durable(): Promise<void> | undefined {
    if (this.#failure !== undefined) return Promise.reject(inDoubt(this.#failure));
    const changes = this.#countChanges();
    if (changes !== this.#changes) {
      this.#changes = changes;
      this.#commits++;
    }
    if (this.#synced === this.#commits) return undefined;
    const caller = Promise.withResolvers<void>();
    this.#waiting.push({ commit: this.#commits, caller });
    if (!this.#isSyncing) void this.#sync();
    return caller.promise;
  }

  /** Throws if a sync has failed. */
  assertSound(): void {
    if (this.#failure !== undefined) throw new StoreUnavailable(this.#failure);
  }

  async #sync(): Promise<void> {
    this.#isSyncing = true;
    while (this.#waiting.length > 0) {
      const commits = this.#commits;
      try {
        await this.#write();
        this.#synced = commits;
      } catch (cause) {
        this.#failure = new Error(
          'The disk did not confirm a write, so it is not known what is stored. Look at the disk, then start the gateway again.',
          { cause },
        );
      }
      this.#answerCallers();
    }
    this.#isSyncing = false;
  }

  #answerCallers(): void {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      if (this.#failure === undefined && first.commit > this.#synced) return;
      this.#waiting.shift();
      if (this.#failure === undefined) first.caller.resolve();
      else first.caller.reject(inDoubt(this.#failure));
    }
  }
}

const inDoubt = (cause: Error): StoreUnavailable => new StoreUnavailable(cause, { inDoubt: true });
