import { SchemaError } from '../errors.ts';
import type { JsonSize } from './schema-size.ts';

/** More steps than allowed: the schema asks for too much work. */
export class TooManySteps extends SchemaError {}

/**
 * Counts work, in units of about one visit to one part of a schema or of a value. Everything that loops takes its steps here, so that
 * data cannot hold the event loop: the time depends on the limit, whatever the schema and the value are.
 */
export class Steps {
  readonly #work: string;
  readonly #limit: number;
  taken: number = 0;

  /** @param work What is done, for the error: "checking it against the schema". */
  constructor(work: string, limit: number = Number.POSITIVE_INFINITY) {
    this.#work = work;
    this.#limit = limit;
  }

  take(count: number = 1): void {
    this.taken += count;
    if (this.taken > this.#limit)
      throw new TooManySteps(`${this.#work} takes more than ${this.#limit.toLocaleString('en')} steps`);
  }

  /** For work that grows with the length of a text, which is much quicker per character than a visit. */
  takeText(length: number): void {
    this.take(1 + (length >> 5));
  }
}

/** The steps of one check of a value against a schema that is data: 10 to 20 ms, so that a core a third as fast stays below 50 ms. */
export const CHECK_STEPS = 200_000;

/** The steps of making a schema ready that is data. Usual are half a step per character. */
export function prepareSteps({ characters }: JsonSize): number {
  return 300 + 2 * characters;
}

/** A problem that is reported is written, compared and sent: far more work than a visit. */
export const PROBLEM_STEPS = 80;
