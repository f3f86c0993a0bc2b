import { replaceTexts } from './replace-texts.ts';
import { secretPattern } from './secret-pattern.ts';

export const REDACTED = '[redacted]';

/** The values of this process's secrets. They are removed from everything that is sent or stored. */
export class KnownSecrets {
  readonly #values = new Set<string>();
  #patterns: readonly RegExp[] = [];

  constructor(values: Iterable<string> = []) {
    this.add(...values);
  }

  /** The old value of a secret stays known: a server that repeated it once may repeat it later. */
  add(...values: readonly string[]): void {
    const added = values.filter((value) => value !== '' && !this.#values.has(value));
    if (added.length === 0) return;
    for (const value of added) this.#values.add(value);
    // The longest comes first, because one secret may be the beginning of another.
    this.#patterns = [...this.#values].sort((one, other) => other.length - one.length).map(secretPattern);
  }

  get isEmpty(): boolean {
    return this.#values.size === 0;
  }

  isIn(text: string): boolean {
    return this.removeFrom(text) !== text;
  }

  removeFrom(text: string): string {
    return this.#patterns.reduce((safe, pattern) => safe.replace(pattern, REDACTED), text);
  }

  /** Removes them from every text of a value, and from numbers: a secret of digits may come back as one. */
  removeFromAll<T>(value: T): T {
    if (this.isEmpty) return value;
    const replace = (text: string): string => this.removeFrom(text);
    const number = (given: number): unknown => (this.isIn(String(given)) ? REDACTED : given);
    return replaceTexts(value, Object.assign(replace, { number }));
  }
}
