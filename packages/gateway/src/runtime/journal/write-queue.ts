import type { Write } from '../run/run-write.ts';

/** Writes that are applied in one transaction. */
interface Batch<Result> {
  readonly writes: Write[];
  /** True if nothing may be added: if these writes are refused, no other write is undone with them. */
  isAlone: boolean;
  isDue: boolean;
  readonly applied: PromiseWithResolvers<Result>;
}

/**
 * Collects the writes of a run and applies them in order, one transaction after the other, because parallel calls end
 * in parallel and the rows are numbered. Waiting writes are applied in one transaction. After a failure nothing more is
 * applied.
 */
export class WriteQueue<Result> {
  readonly #apply: (writes: readonly Write[]) => Promise<Result>;
  readonly #waiting: Batch<Result>[] = [];
  #draining: Promise<void> = Promise.resolve();
  #isDraining = false;
  #failure: { readonly error: unknown } | undefined;

  constructor(apply: (writes: readonly Write[]) => Promise<Result>) {
    this.#apply = apply;
  }

  /** Adds writes to those that wait for the next flush. */
  add(writes: readonly Write[]): void {
    if (writes.length > 0) this.#batch().writes.push(...writes);
  }

  /** Applies the waiting writes and these, and resolves when they are durable. */
  async write(writes: readonly Write[], { isAlone = false }: { isAlone?: boolean } = {}): Promise<Result> {
    this.assertSound();
    const batch = this.#batch({ isAlone });
    batch.writes.push(...writes);
    this.flush();
    return await batch.applied.promise;
  }

  /** Starts to apply the waiting writes. */
  flush(): void {
    for (const batch of this.#waiting) batch.isDue = true;
    if (!this.#isDraining) this.#draining = this.#drain();
  }

  /** True if something other than stream events is waiting. */
  get hasRecords(): boolean {
    return this.#waiting.some(hasRecords);
  }

  /** Throws the error of the write that failed, if one did. */
  assertSound(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Resolves when nothing is being applied. */
  async idle(): Promise<void> {
    await this.#draining;
  }

  #batch({ isAlone = false } = {}): Batch<Result> {
    const last = this.#waiting.at(-1);
    if (last !== undefined && !last.isAlone && !(isAlone && hasRecords(last))) {
      last.isAlone = isAlone;
      return last;
    }
    const batch: Batch<Result> = { writes: [], isAlone, isDue: false, applied: Promise.withResolvers() };
    // The promise may have no listener. The next write throws the failure.
    batch.applied.promise.catch(() => {});
    this.#waiting.push(batch);
    return batch;
  }

  async #drain(): Promise<void> {
    this.#isDraining = true;
    while (this.#waiting[0]?.isDue === true) {
      const batch = this.#waiting.shift() as Batch<Result>;
      try {
        this.assertSound();
        batch.applied.resolve(await this.#apply(batch.writes));
      } catch (error) {
        this.#failure ??= { error };
        batch.applied.reject(error);
      }
    }
    this.#isDraining = false;
  }
}

function hasRecords({ writes }: { readonly writes: readonly Write[] }): boolean {
  return writes.some(({ kind }) => kind !== 'space-event' && kind !== 'live-event');
}
