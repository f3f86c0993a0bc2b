import type { Settlement } from '../results/outcome.ts';
import type { CallRole } from './batch-plan.ts';

/** A call of a batch with its role and its end. */
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
 * Decides what a batch means. A successful transition takes precedence over everything; between a rewind and a terminal
 * call the first successful one in call order counts; a failure is never a result.
 */
export function decideEnding(batch: readonly Ended[]): BatchEnding {
  let first: Ended | undefined;
  let waits = false;
  for (const ended of batch) {
    const { status } = ended.settlement.outcome;
    if (status === 'pending') waits = true;
    if (status !== 'ok' || ended.role === 'plain') continue;
    if (ended.role === 'transition') return { kind: 'transition', settlement: ended.settlement };
    first ??= ended;
  }
  return first === undefined ? { kind: waits ? 'pending' : 'none' } : toEnding(first);
}

function toEnding({ role, settlement }: Ended): BatchEnding {
  if (role === 'rewind') return { kind: 'rewind', settlement };
  return { kind: 'response', by: role === 'listed' ? 'terminating' : 'terminal', settlement };
}
