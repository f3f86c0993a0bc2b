import type { Answer } from '@lastcall/client';
import type { CardProps } from '@lastcall/client/react';
import type { CallStatus } from '@lastcall/client/timeline';

/** How the call of a card stands. What this person is doing with the card does not change it. */
export function statusOf({ call, state }: Pick<CardProps, 'call' | 'state'>): CallStatus {
  switch (state.status) {
    case 'writing':
      return 'running';
    case 'answered':
      return statusAfter(state.given);
    case 'cancelled':
      return call.callStatus === 'running' ? 'cancelled' : call.callStatus;
    default:
      return call.callStatus;
  }
}

/** The gateway has the answer. The card itself changes a moment later. */
function statusAfter(given: Answer): CallStatus {
  if ('approve' in given) return 'running';
  if ('deny' in given) return 'denied';
  return 'error' in given ? 'error' : 'ok';
}

/**
 * True if all that is known is that the call was approved. It may not have begun: its agent may be paused, busy, or wait for another
 * call first.
 */
export function isApprovedOnly({ decision, progress }: Pick<CardProps['call'], 'decision' | 'progress'>): boolean {
  return decision === 'approve' && progress === undefined;
}
