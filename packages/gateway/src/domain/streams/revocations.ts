import type { Services } from '../../ports/services.ts';
import type { Tx } from '../../ports/store/store.ts';
import { emit, REVOCATIONS } from './emit.ts';
import { HighWaterMark } from './high-water-mark.ts';
import { readStream, type StreamReader } from './read-stream.ts';

/** A key was revoked in this transaction: every gateway ends what the key opened. */
export function tellRevoked(services: Pick<Services, 'bus'>, tx: Tx, keyId: string): void {
  emit(services, tx, { channel: REVOCATIONS, type: 'key.revoked', payload: { keyId } });
}

/**
 * What one gateway knows of revoked keys. Revocations are events of a channel of their own, so they are numbered; and every event of
 * every stream says how many there had been when it was said. An event that says more than is known here waits until that is
 * read: what was said after a revocation reaches nobody it ended, also when it was made through another gateway and the
 * notice of it is late or lost. That costs no query while no key is revoked, and one for all streams when one is.
 */
export class Revocations {
  readonly #services: Needs;
  readonly #watchers = new Map<string, Set<() => void>>();
  readonly #known = new HighWaterMark();
  #following: Promise<StreamReader> | undefined;
  #moved: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(services: Needs) {
    this.#services = services;
  }

  /**
   * Calls `onRevoked` when the key is revoked from here on. Whoever watches looks up the key after that: one that was revoked before
   * is not told of. Gives what ends it.
   */
  async watch(keyId: string, onRevoked: () => void): Promise<() => void> {
    await this.#follow();
    const own = this.#watchers.get(keyId) ?? new Set();
    this.#watchers.set(keyId, own.add(onRevoked));
    return () => {
      own.delete(onRevoked);
      if (own.size === 0 && this.#watchers.get(keyId) === own) this.#watchers.delete(keyId);
    };
  }

  /** Undefined where the first `count` revocations are known, which is nearly always. Otherwise resolves once they are. */
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
    // A database that was away for a moment is asked again.
    const again = setInterval(() => void reader.look().catch(() => {}), LOOK_MS);
    try {
      reader.expect(count);
      while (this.#known.value < count) await this.#moved.promise;
    } finally {
      clearInterval(again);
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
    const reader = await readStream(this.#services, { channel: REVOCATIONS });
    this.#known.raiseTo(reader.position);
    void this.#read(reader);
    return reader;
  }

  async #read(reader: StreamReader): Promise<void> {
    for (let item = await reader.next(); item !== undefined; item = await reader.next()) {
      // After a reset nobody knows which keys were revoked: all streams end, and whose key is valid opens another.
      if (item.kind === 'reset') for (const keyId of [...this.#watchers.keys()]) this.#end(keyId);
      else this.#end((item.event.payload as { readonly keyId: string }).keyId);
      this.#known.raiseTo(reader.position);
      this.#moved.resolve();
      this.#moved = Promise.withResolvers();
    }
  }

  #end(keyId: string): void {
    const ended = this.#watchers.get(keyId) ?? [];
    this.#watchers.delete(keyId);
    for (const onRevoked of ended) onRevoked();
  }
}

type Needs = Pick<Services, 'store' | 'bus' | 'limits' | 'logger'>;

const LOOK_MS = 1_000;
