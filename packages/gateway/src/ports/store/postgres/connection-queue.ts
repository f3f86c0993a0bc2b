import { FairQueue } from '../../fair-queue.ts';
import { StoreUnavailable } from '../store-error.ts';

/**
 * Decides who uses the connections of a pool:
 *
 * 1. At most `connections` callers use one at a time. The others wait.
 * 2. Urgent callers go first, and no other starves: see FairQueue.
 * 3. Waiting fails if no connection came back for `silenceMs`, because then the database does not answer. It does not fail because many
 *    wait: a busy database is not an outage, and a run that gives up must tell its model that it does not know what its calls have done.
 * 4. If the server has no room for one more connection, its caller waits like the others for one that is open. Its place stays empty for
 *    `crowdedMs`, and then the server is asked again.
 *
 *     turn ──▶ free? ── yes ──▶ uses a connection ──▶ pass ──▶ the next one that waits
 *                │               ├─ there is none ──▶ forgo ──▶ the next one that waits
 *                │               └─ no room ──▶ turnOfAnother ──▶ waits
 *                └─ no ──▶ waits ──▶ none came back for `silenceMs`: StoreUnavailable, for all that wait
 */
export class ConnectionQueue {
  readonly #waiting = new FairQueue<Waiting>({ ranks: 2 });
  readonly #silenceMs: number;
  readonly #crowdedMs: number;
  #free: number;
  #silence: NodeJS.Timeout | undefined;

  constructor({ connections, silenceMs, crowdedMs = CROWDED_MS }: ConnectionQueueOptions) {
    this.#free = connections;
    this.#silenceMs = silenceMs;
    this.#crowdedMs = crowdedMs;
  }

  /** Resolves when the caller may use a connection. The caller then calls `pass`, `forgo` or `turnOfAnother` once. */
  async turn({ isUrgent }: { readonly isUrgent: boolean }): Promise<void> {
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.add({ rank: isUrgent ? 0 : 1, go: resolve, fail: reject });
    this.#silence ??= this.#startSilence();
    await promise;
  }

  /** The connection came back. */
  pass(): void {
    this.#goNext();
    clearTimeout(this.#silence);
    this.#silence = this.#waiting.size === 0 ? undefined : this.#startSilence();
  }

  /** The caller got no connection. The next one may try, and the silence goes on. */
  forgo(): void {
    this.#goNext();
  }

  /** The server has no room for the connection of the caller, who waits for another turn instead. */
  async turnOfAnother(options: { readonly isUrgent: boolean }): Promise<void> {
    setTimeout(() => this.#goNext(), this.#crowdedMs).unref();
    await this.turn(options);
  }

  #goNext(): void {
    const next = this.#waiting.take();
    if (next === undefined) this.#free++;
    else next.go();
  }

  #startSilence(): NodeJS.Timeout {
    return setTimeout(() => this.#failAll(), this.#silenceMs);
  }

  #failAll(): void {
    this.#silence = undefined;
    const seconds = this.#silenceMs / 1_000;
    const error = new StoreUnavailable(new Error(`No connection to the database came free for ${seconds} seconds.`));
    for (let next = this.#waiting.take(); next !== undefined; next = this.#waiting.take()) next.fail(error);
  }
}

interface ConnectionQueueOptions {
  readonly connections: number;
  readonly silenceMs: number;
  /** Default 1,000. */
  readonly crowdedMs?: number;
}

/** Each attempt costs the server a process, and a server that is full is seldom full for less. */
const CROWDED_MS = 1_000;

interface Waiting {
  readonly rank: number;
  go(): void;
  fail(error: StoreUnavailable): void;
}
