import { SchemaError } from '../errors.ts';
import type { JsonSize } from './schema-size.ts';

/** The schema needs more steps than allowed. */
export class TooManySteps extends SchemaError {}

/**
 * Counts work, in units of about one visit to one part of a schema or of a value. Every loop takes its steps here, so
 * that data cannot block the event loop: the time is bounded by the limit, whatever the schema and the value are.
 */
export class Steps {
  readonly #work: string;
  readonly #limit: number;
  taken: number = 0;

  /** @param work The activity, for the error: "checking it against the schema". */
  constructor(work: string, limit: number = Number.POSITIVE_INFINITY) {
    this.#work = work;
    this.#limit = limit;
  }

  take(count: number = 1): void {
    this.taken += count;
    if (this.taken > this.#limit)
      throw new TooManySteps(`${this.#work} takes more than ${this.#limit.toLocaleString('en')} steps`);
  }

  /** For work that grows with the length of a text, which is much cheaper per character than a visit. */
  takeText(length: number): void {
    this.take(1 + (length >> 5));
  }
}

/** The steps of one check of a value against a schema that is data: 10 to 20 ms, so that a core a third as fast stays below 50 ms. */
export const CHECK_STEPS = 200_000;

/** The steps of preparing a schema that is data. Half a step per character is usual. */
export function prepareSteps({ characters }: JsonSize): number {
  return 300 + 2 * characters;
}

/** A reported problem is written, compared and sent: far more work than a visit. */
export const PROBLEM_STEPS = 80;
