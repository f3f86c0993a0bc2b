import { type FileHandle, open } from 'node:fs/promises';
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
 *    callers that wait learn that their outcome is unknown, and the store is lost: it refuses everything until the next start.
 */
export class LogSync {
  readonly #write: () => Promise<void>;
  readonly #onLost: (error: StoreUnavailable) => void;
  readonly #countChanges: () => unknown;
  /** What SQLite counted when the last commit was noticed. Undefined at first: what was written before was not synced. */
  #changes: unknown;
  #commits = 0;
  #synced = 0;
  #isSyncing = false;
  /** Why nothing can be synced any more. */
  #ended: { readonly by: 'failure' | 'close'; readonly cause: Error } | undefined;
  /** In the order of their commits. */
  readonly #waiting: { readonly commit: number; readonly caller: PromiseWithResolvers<void> }[] = [];

  /**
   * @param write - Syncs the log's file.
   * @param onLost - Called once, if a sync fails.
   */
  constructor(
    database: DatabaseSync,
    {
      write,
      onLost = () => {},
    }: { write: () => Promise<void>; onLost?: ((error: StoreUnavailable) => void) | undefined },
  ) {
    this.#write = write;
    this.#onLost = onLost;
    const statement = database.prepare('select total_changes() as changes');
    this.#countChanges = () => statement.get()?.changes;
  }

  /**
   * Resolves when everything that is committed now is on the disk; undefined if it is there already. Call it while no
   * transaction is open: its changes would count as committed.
   */
  durable(): Promise<void> | undefined {
    if (this.#ended !== undefined) return Promise.reject(inDoubt(this.#ended.cause));
    try {
      const changes = this.#countChanges();
      if (changes !== this.#changes) this.#commits++;
      this.#changes = changes;
    } catch (error) {
      // The database was closed.
      return Promise.reject(error);
    }
    if (this.#synced === this.#commits) return undefined;
    const caller = Promise.withResolvers<void>();
    this.#waiting.push({ commit: this.#commits, caller });
    if (!this.#isSyncing) void this.#sync();
    return caller.promise;
  }

  /** The error with which the store refuses everything after a failed sync. */
  get lost(): StoreUnavailable | undefined {
    return this.#ended?.by === 'failure' ? new StoreUnavailable(this.#ended.cause, { isLost: true }) : undefined;
  }

  /** Throws if the store is lost. */
  assertSound(): void {
    const { lost } = this;
    if (lost !== undefined) throw lost;
  }

  /** Resolves when those who wait have been answered. Callers that come later learn that their outcome is unknown. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#waiting.map(({ caller }) => caller.promise));
    this.#ended ??= { by: 'close', cause: new Error('The store was closed.') };
    this.#answerCallers();
  }

  async #sync(): Promise<void> {
    this.#isSyncing = true;
    while (this.#waiting.length > 0) {
      const commits = this.#commits;
      try {
        await this.#write();
        this.#synced = commits;
      } catch (cause) {
        this.#fail(cause);
      }
      this.#answerCallers();
    }
    this.#isSyncing = false;
  }

  #fail(cause: unknown): void {
    if (this.#ended !== undefined) return;
    const message =
      'The disk did not confirm a write to the log of lastcall.db, so it is not known what is stored. Nothing is read or written ' +
      'until the gateway is started again. Look at the disk first.';
    this.#ended = { by: 'failure', cause: new Error(message, { cause }) };
    if (this.lost !== undefined) this.#onLost(this.lost);
  }

  #answerCallers(): void {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      if (this.#ended === undefined && first.commit > this.#synced) return;
      this.#waiting.shift();
      if (first.commit <= this.#synced) first.caller.resolve();
      else first.caller.reject(inDoubt(this.#ended?.cause));
    }
  }
}

const inDoubt = (cause: unknown): StoreUnavailable => new StoreUnavailable(cause, { inDoubt: true });

/**
 * Opens the log's file, to sync it. Where SQLite cannot have a log, such as on some network drives, returns undefined, and SQLite syncs
 * commits itself.
 */
export async function openLog(database: DatabaseSync, path: string): Promise<FileHandle | undefined> {
  const { journal_mode: mode } = database.prepare('pragma journal_mode').get() ?? {};
  if (mode === 'wal') return await open(path, 'r+');
  database.exec('pragma synchronous = full');
  return undefined;
}
