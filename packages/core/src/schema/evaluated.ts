import type { Steps } from './steps.ts';

/**
 * The keys and items of one value that some schema has evaluated: `unevaluatedProperties` and `unevaluatedItems` ignore
 * them.
 */
export class Evaluated {
  readonly #keys = new Set<string>();
  readonly #items = new Set<number>();
  #hasEveryKey = false;
  #firstItems = 0;

  addKey(key: string): void {
    this.#keys.add(key);
  }

  addEveryKey(): void {
    this.#hasEveryKey = true;
  }

  addItem(index: number): void {
    this.#items.add(index);
  }

  addFirstItems(count: number): void {
    this.#firstItems = Math.max(this.#firstItems, count);
  }

  hasKey(key: string): boolean {
    return this.#hasEveryKey || this.#keys.has(key);
  }

  hasItem(index: number): boolean {
    return index < this.#firstItems || this.#items.has(index);
  }

  addAll(other: Evaluated, steps: Steps): void {
    steps.take(other.#keys.size + other.#items.size);
    for (const key of other.#keys) this.#keys.add(key);
    for (const index of other.#items) this.#items.add(index);
    this.#hasEveryKey ||= other.#hasEveryKey;
    this.addFirstItems(other.#firstItems);
  }
}
