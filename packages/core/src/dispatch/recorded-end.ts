import type { Outcome } from '../results/outcome.ts';
import type { SliceChanges } from '../session/recording.ts';

/** A registered symbol, for the same reasons as in result.ts. */
const RECORDED: unique symbol = Symbol.for('lastcall.recorded') as never;

/** What a tool returns in place of running: how an earlier call ended, which counts as it is. */
export interface RecordedEnd {
  readonly [RECORDED]: true;
  readonly outcome: Outcome;
  /** True if its success is the response. */
  readonly terminal: boolean;
  /** How the earlier call changed the session. */
  readonly slices?: SliceChanges | undefined;
}

/** The end of an earlier call, given to this one. The output schema and the final check of policies are skipped: they passed then. */
export function recordedEnd(end: Omit<RecordedEnd, typeof RECORDED>): RecordedEnd {
  return Object.freeze({ [RECORDED]: true as const, ...end });
}

export function isRecordedEnd(value: unknown): value is RecordedEnd {
  return typeof value === 'object' && value !== null && (value as Partial<RecordedEnd>)[RECORDED] === true;
}
