import type { Usage } from '../model/usage.ts';
import type { PendingKind, Settlement } from '../results/outcome.ts';
import type { Stop } from '../transcript/stop.ts';
import type { Transcript } from '../transcript/transcript.ts';
import type { ToolReturn } from './tool-return.ts';
import type { ToolSet } from './tool-set.ts';

export interface TurnResult<O = unknown> {
  /** The terminal tool's text, byte for byte, or the model's text. Empty if a turn ended without either. */
  readonly response: string;
  /** The terminal tool's value. */
  readonly output: O | undefined;
  readonly stop: Stop;
  readonly transcript: Transcript;
  /** The settlements of this turn, in the order of the calls. */
  readonly settlements: readonly Settlement[];
  readonly pending: readonly PendingCall[];
  readonly steps: number;
  readonly usage: Usage;
}

/** A call that waits for an answer. */
export interface PendingCall {
  readonly callId: string;
  readonly kind: PendingKind;
  readonly toolName: string;
  readonly input: unknown;
  readonly expiresAt?: number;
}

/** The output type of a set's terminal tools: `unknown` if the set does not say which they are. */
export type TerminalOutput<T extends ToolSet> = [OutputOf<T[keyof T]>] extends [never] ? unknown : OutputOf<T[keyof T]>;

type OutputOf<D> = D extends { readonly terminal: true; readonly execute?: (...args: never) => ToolReturn<infer O> }
  ? O
  : never;
