import type { Outcome } from '../wire.generated.ts';

/** The state of a call, as the user sees it. */
export type OutcomeName = 'ok' | 'error' | 'unknown' | 'waiting' | 'cancelled' | 'skipped' | 'running' | 'planned';

/** An error with a possible effect, or with an unknown end, is shown as unknown. */
export function outcomeName(outcome: Outcome | undefined): OutcomeName {
  if (outcome === undefined) return 'running';
  if (outcome.status === 'pending') return 'waiting';
  if (outcome.status !== 'error') return outcome.status;
  return outcome.effect === 'possible' || outcome.code === 'unknown_outcome' ? 'unknown' : 'error';
}

/** Calls that ended so never ran. */
export const NEVER_RAN: ReadonlySet<OutcomeName> = new Set(['cancelled', 'skipped']);
