import type { Outcome } from '../wire.generated.ts';

/** How a call stands, as a person is told. */
export type OutcomeName = 'ok' | 'error' | 'unknown' | 'waiting' | 'cancelled' | 'skipped' | 'running' | 'planned';

/** An error whose effect is possible, or whose end nobody saw, is a doubt, and is shown as one. */
export function outcomeName(outcome: Outcome | undefined): OutcomeName {
  if (outcome === undefined) return 'running';
  if (outcome.status === 'pending') return 'waiting';
  if (outcome.status !== 'error') return outcome.status;
  return outcome.effect === 'possible' || outcome.code === 'unknown_outcome' ? 'unknown' : 'error';
}

/** Calls that ended so never ran. */
export const NEVER_RAN: ReadonlySet<OutcomeName> = new Set(['cancelled', 'skipped']);
