import type { ForkRow } from '../../ports/store/schema/tables.ts';
import { DRAFT_STEP } from './draft.ts';

/** A run of a fork or a draft only tries something: it acts in no space, and outside only if a person says so. */
export interface Trial {
  readonly kind: 'fork' | 'draft';
  /** The run that it was forked from, or whose message the draft answers again. */
  readonly runId?: string;
}

/** The row of the fork or draft that a conversation is. All null if it is neither. */
export type TrialRow = { readonly [Name in 'at_step' | 'origin_run_id']: ForkRow[Name] | null };

/** As a field of something that belongs to a run. */
export function trialOf({ at_step, origin_run_id }: TrialRow): { readonly trial?: Trial } {
  if (at_step === null) return {};
  const kind = at_step === DRAFT_STEP ? 'draft' : 'fork';
  return { trial: origin_run_id === null || origin_run_id === '' ? { kind } : { kind, runId: origin_run_id } };
}
