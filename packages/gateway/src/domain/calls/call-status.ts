import type { Outcome } from '@lastcall/core';
import type { CallRow } from '../../ports/store/schema/tables.ts';

/** How a call stands, in one word. The API, the lists and every page use the same one. */
export const CALL_STATUSES = [
  'planned',
  'running',
  'waiting',
  'ok',
  'denied',
  'expired',
  'error',
  'unknown',
  'cancelled',
  'skipped',
] as const;

export type CallStatus = (typeof CALL_STATUSES)[number];

/** In lists, a call that has not begun counts as running. */
export type CountedStatus = Exclude<CallStatus, 'planned'>;
export const COUNTED_STATUSES: readonly CountedStatus[] = CALL_STATUSES.filter((status) => status !== 'planned');

/** The statuses that a row stores. The others follow from how far the call has come. */
export type StoredStatus = NonNullable<CallRow['outcome_status']>;

/**
 * A refusal is a decision and not an error. An error that may have had an effect is `unknown`. `@lastcall/client/timeline` reads
 * outcomes in the same way.
 */
export function statusOfOutcome(outcome: Outcome): StoredStatus {
  if (outcome.status === 'pending') return 'waiting';
  if (outcome.status !== 'error') return outcome.status;
  if (outcome.effect === 'possible' || outcome.code === 'unknown_outcome') return 'unknown';
  if (outcome.code === 'denied') return 'denied';
  return outcome.code === 'expired' ? 'expired' : 'error';
}

/** The column is null until the call waits or ends, and while an approved call runs. */
export function callStatus({ status, outcome_status }: Pick<CallRow, 'status' | 'outcome_status'>): CallStatus {
  if (outcome_status !== null) return outcome_status;
  return status === 'planned' ? 'planned' : 'running';
}
