import type { Outcome } from '../results/outcome.ts';
import { outcomeShape } from './entry-shape.ts';
import type { Flaw } from './shape.ts';
import { toPlainValue } from './transcript-json.ts';

/** Why an outcome could be stored and not read back, and where in it. */
export function flawOfOutcome(outcome: Outcome): Flaw | undefined {
  // The value may be anything, and costly to copy.
  const { value: _value, ...others } = outcome as Outcome & { readonly value?: unknown };
  return outcomeShape(toPlainValue(others));
}
