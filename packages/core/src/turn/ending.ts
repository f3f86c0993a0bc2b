import type { Settlement } from '../results/outcome.ts';
import type { CallRole } from './batch-plan.ts';

/** A call of a batch with what it was and how it ended. */
export interface Ended {
  readonly role: CallRole;
  readonly settlement: Settlement;
}

/** What a settled batch means for the turn. */
export type BatchEnding =
  | { readonly kind: 'transition'; readonly settlement: Settlement }
  | { readonly kind: 'rewind'; readonly settlement: Settlement }
  | { readonly kind: 'response'; readonly by: 'terminal' | 'terminating'; readonly settlement: Settlement }
  | { readonly kind: 'pending' }
  | { readonly kind: 'none' };

/**
 * Decides what a batch means. A transition that succeeded outranks everything; of a rewind and a terminal the earlier one
 * in call order that succeeded counts; a failure is never a result.
 */
export function decideEnding(batch: readonly Ended[]): BatchEnding {
  const succeeded = batch.filter(({ settlement }) => settlement.outcome.status === 'ok');
  const transition = succeeded.find(({ role }) => role === 'transition');
  if (transition !== undefined) return { kind: 'transition', settlement: transition.settlement };
  const first = succeeded.find(({ role }) => role !== 'plain');
  if (first?.role === 'rewind') return { kind: 'rewind', settlement: first.settlement };
  if (first !== undefined)
    return { kind: 'response', by: first.role === 'listed' ? 'terminating' : 'terminal', settlement: first.settlement };
  return { kind: batch.some(({ settlement }) => settlement.outcome.status === 'pending') ? 'pending' : 'none' };
}
