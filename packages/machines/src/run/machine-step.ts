import type { Settlement, Stop, Usage } from '@lastcall/core';
import type { MachineEntry, Origin } from '../tree/log.ts';
import type { Suspension } from '../tree/suspension.ts';

/**
 * Why a step handed back. Of several leaves the primary's reason counts; where it did not act, the most telling of the
 * workers'.
 */
export type YieldReason =
  | 'end_turn'
  | 'tool_use'
  | 'transition'
  | 'cede'
  | 'suspend'
  | 'awaiting_resume'
  | 'max_steps'
  | 'error';

/** One step of a machine: every leaf that has something to do asked its model once and settled what it called. */
export interface MachineStep {
  readonly yieldReason: YieldReason;
  /**
   * What the user is told, where the primary ended its turn: its text, or a terminal tool's to the byte. With
   * `yieldReason: 'error'` reading it throws RunFailed: a failed run must not pass for one that said nothing.
   */
  readonly response?: string;
  /** The value of the terminal tool that gave the response. Throws as `response` does. */
  readonly output?: unknown;
  /** Whether this is the last step of the run, as things stand. */
  readonly done: boolean;
  /** The settlements of all leaves, in tree order and then in the order of the calls. */
  readonly settlements: readonly (Settlement & Origin)[];
  /** What happened since the step before, in order. Those of all steps are the machine's history. */
  readonly entries: readonly MachineEntry[];
  /** What each leaf came to, in tree order. */
  readonly leaves: readonly LeafReport[];
  /** What waits for `machine.resume` now. */
  readonly suspended: readonly Suspension[];
  /** Why the run cannot go on, with `yieldReason: 'error'`: what was thrown, or a RunFailed that says it. */
  readonly error?: unknown;
  readonly usage: Usage;
}

/** What one leaf came to in a step. */
export interface LeafReport extends Origin {
  readonly worker: boolean;
  readonly yieldReason: YieldReason;
  /** How core's turn ended. */
  readonly stop: Stop;
}
