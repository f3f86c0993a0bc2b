import type { Outcome } from '@lastcall/client';

/** How a call stands, in one word: `ok`, `waiting`, or the code of an error. */
export function statusInWords(outcome: Outcome): string {
  if (outcome.status === 'pending') return 'waiting';
  return outcome.status === 'error' ? outcome.code : outcome.status;
}
