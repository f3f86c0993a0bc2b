import type { Settlement, Stop, Usage } from '@lastcall/core';
import type { MachineEntry, Origin } from '../tree/log.ts';
import type { Suspension } from '../tree/suspension.ts';

/**
 * Why a step ended. With several leaves, the primary's reason counts; if it did not act, the most significant of the
 * workers' reasons.
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

/** One step of a machine: every leaf that had something to do asked its model once, and its calls were settled. */
export interface MachineStep {
  readonly yieldReason: YieldReason;
  /**
   * The answer to the user, if the primary ended its turn: its text, or a terminal tool's, byte for byte. If the machine had
   * nothing left to do, the one step of the run has the answer of the run before. With `yieldReason: 'error'` reading it
   * throws RunFailed: a failed run must not look like one with an empty answer.
   */
  readonly response?: string;
  /** The value of the terminal tool that gave the response. Throws as `response` does. */
  readonly output?: unknown;
  /** Whether this is the last step of the run, unless something is enqueued. */
  readonly done: boolean;
  /** The settlements of all leaves, in tree order and within a leaf in the order of the calls. */
  readonly settlements: readonly (Settlement & Origin)[];
  /** What happened since the previous step, in order. The entries of all steps are the machine's history. */
  readonly entries: readonly MachineEntry[];
  /** The result of each leaf, in tree order. */
  readonly leaves: readonly LeafReport[];
  /** The calls that wait for `machine.resume` now. */
  readonly suspended: readonly Suspension[];
  /** Why the run cannot continue, with `yieldReason: 'error'`: the thrown error, or a RunFailed that explains it. */
  readonly error?: unknown;
  readonly usage: Usage;
}

/** The result of one leaf in a step. */
export interface LeafReport extends Origin {
  readonly worker: boolean;
  readonly yieldReason: YieldReason;
  /** How core's turn ended. */
  readonly stop: Stop;
}
