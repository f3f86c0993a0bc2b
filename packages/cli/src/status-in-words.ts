import type { Outcome } from '@lastcall/client';
import { callStatus } from '@lastcall/client/timeline';

/** How a call stands, in one word. An error says its code. */
export function statusInWords(outcome: Outcome): string {
  const status = callStatus(outcome);
  return status === 'error' && outcome.status === 'error' ? outcome.code : status;
}
