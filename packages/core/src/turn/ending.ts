import type { Settlement } from '../results/outcome.ts';
import type { CallRole, EndedRole } from './batch-plan.ts';

/** A call of a batch with its role and its end. */
export interface Ended {
  readonly role: EndedRole;
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
 * call the first successful one in call order counts; a failure is never a result. A final call ends the turn only if all calls
 * succeeded: otherwise the model has to read what failed or waits.
 */
export function decideEnding(batch: readonly Ended[]): BatchEnding {
  let first: Ended | undefined;
  let waits = false;
  for (const ended of batch) {
    const { status } = ended.settlement.outcome;
    if (status === 'pending') waits = true;
    if (status !== 'ok' || ended.role === 'plain') continue;
    if (ended.role === 'transition') return { kind: 'transition', settlement: ended.settlement };
    if (ended.role !== 'final') first ??= ended;
  }
  if (first !== undefined) return toEnding(first);
  const final = batch.findLast(({ role }) => role === 'final');
  if (final !== undefined && batch.every(({ settlement }) => settlement.outcome.status === 'ok'))
    return toEnding(final);
  return { kind: waits ? 'pending' : 'none' };
}

/** The role of a call that has ended. Under a contract, only the tools that it lists end the turn. */
export function roleAfter(role: CallRole, { terminal }: Settlement, hasContract: boolean): EndedRole {
  return role === 'plain' && terminal === true && !hasContract ? 'final' : role;
}

function toEnding({ role, settlement }: Ended): BatchEnding {
  if (role === 'rewind') return { kind: 'rewind', settlement };
  return { kind: 'response', by: role === 'listed' ? 'terminating' : 'terminal', settlement };
}
