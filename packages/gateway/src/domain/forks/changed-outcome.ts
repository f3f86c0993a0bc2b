import type { Outcome } from '@lastcall/core';
import { toJson } from '../../ports/store/schema/json.ts';
import { denialReason } from '../calls/answer.ts';

/** How a call ends in a fork, in the words of an answer. */
export type ChangedOutcome = { readonly result: unknown } | { readonly error: string } | { readonly deny: string };

export function toOutcome(changed: ChangedOutcome, toolName: string): Outcome {
  if ('result' in changed) {
    const { result: value } = changed;
    return { status: 'ok', value, text: typeof value === 'string' ? value : toJson(value) };
  }
  if ('error' in changed) return { status: 'error', code: 'execution', message: changed.error, text: changed.error };
  const message = denialReason(changed.deny);
  return { status: 'error', code: 'denied', message, text: `"${toolName}" was denied: ${message}` };
}
