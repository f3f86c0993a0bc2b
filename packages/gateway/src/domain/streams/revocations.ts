import type { Services } from '../../ports/services.ts';
import { REVOCATIONS } from '../../ports/store/append-stream-events.ts';
import type { Tx } from '../../ports/store/store.ts';
import { HighWaterMark } from './high-water-mark.ts';
import { readStream, type StreamReader } from './read-stream.ts';

/** Announces a revoked key with this transaction: every gateway ends the streams and requests of the key. */
export function announceRevocation(tx: Tx, keyId: string): void {
  tx.emit({ stream: REVOCATIONS, type: 'key.revoked', payload: { keyId } });
}

/** Announces the end of a session, in the same way. */
export function announceSessionEnd(tx: Tx, sessionId: string): void {
  tx.emit({ stream: REVOCATIONS, type: 'session.ended', payload: { sessionId } });
}

type Revocation = { readonly keyId: string } | { readonly sessionId: string };

/**
 * What one gateway knows about revoked keys and ended sessions. Revocations are events of a separate stream, so they are
 * numbered, and every event of every stream contains the number of revocations at the time it was written. An event that names
 * more than are known here waits until those are read. So no event that was written after a revocation reaches a revoked reader,
 * even if the revocation was made on another gateway and its notice is late or lost. This costs no query while no key is revoked,
 * and one for all streams when one is.
 */
export class Revocations {
  readonly #services: StreamServices;
  readonly #watchers = new Map<string, Set<() => void>>();
  readonly #known = new HighWaterMark();
  #following: Promise<StreamReader> | undefined;
  #progress: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(services: StreamServices) {
    this.#services = services;
  }

  /**
   * Calls `onRevoked` when the key is revoked, or the session ended, from now on. The caller must look it up after this:
   * an earlier revocation is not reported. Returns a function that ends the watch.
   */
  async watch(id: string, onRevoked: () => void): Promise<() => void> {
    await this.#follow();
    const callbacks = this.#watchers.get(id) ?? new Set();
    this.#watchers.set(id, callbacks.add(onRevoked));
    return () => {
      callbacks.delete(onRevoked);
      if (callbacks.size === 0 && this.#watchers.get(id) === callbacks) this.#watchers.delete(id);
    };
  }

  /**
   * Returns undefined if the first `count` revocations are known, which is nearly always so. Otherwise resolves once
   * they are.
   */
  catchUp(count: number): Promise<void> | undefined {
    return this.#known.value >= count ? undefined : this.#readUpTo(count);
  }

  stop(): void {
    void this.#following?.then(
      (reader) => reader.close(),
      () => {},
    );
  }

  async #readUpTo(count: number): Promise<void> {
    const reader = await this.#follow();
    // Checks again, in case the database was unreachable for a moment.
    const retryTimer = setInterval(() => void reader.look().catch(() => {}), RETRY_MS);
    try {
      reader.expect(count);
      while (this.#known.value < count) await this.#progress.promise;
    } finally {
      clearInterval(retryTimer);
    }
  }

  #follow(): Promise<StreamReader> {
    this.#following ??= this.#open().catch((error: unknown) => {
      this.#following = undefined;
      throw error;
    });
    return this.#following;
  }

  async #open(): Promise<StreamReader> {
    const reader = await readStream(this.#services, { stream: REVOCATIONS });
    this.#known.raiseTo(reader.position);
    void this.#read(reader);
    return reader;
  }

  async #read(reader: StreamReader): Promise<void> {
    for (let item = await reader.next(); item !== undefined; item = await reader.next()) {
      // After a reset it is unknown which keys were revoked: all streams end, and clients with a valid key open
      // another.
      if (item.kind === 'reset') for (const id of [...this.#watchers.keys()]) this.#end(id);
      else this.#end(revokedId(item.event.payload as Revocation));
      this.#known.raiseTo(reader.position);
      this.#progress.resolve();
      this.#progress = Promise.withResolvers();
    }
  }

  #end(id: string): void {
    const ended = this.#watchers.get(id) ?? [];
    this.#watchers.delete(id);
    for (const onRevoked of ended) onRevoked();
  }
}

function revokedId(revocation: Revocation): string {
  return 'keyId' in revocation ? revocation.keyId : revocation.sessionId;
}

type StreamServices = Pick<Services, 'store' | 'bus' | 'limits' | 'logger'>;

const RETRY_MS = 1_000;
