import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { TranscriptRow } from '../../domain/transcript/load-transcript.ts';

/** A run that is ready: what the loop of its agent does, whether that is one conversation or a machine. */
export interface PreparedRun {
  /** The only way to the model: see `ModelGuard`. */
  readonly model: LanguageModelV4;
  /** Performs the run, until its end is written. */
  perform(): Promise<unknown>;
  /** Shortens what the next run begins with, if it is over the agent's budget. Returns true if something was written. */
  compact(nextSeq: number): Promise<boolean>;
  /** The same from what is stored, because a failed run may not know about the last writes. */
  compactStored(): Promise<boolean>;
  /** The run has ended, and these are the rows of its thread. What the next run can use is kept with them. */
  keep?(rows: readonly TranscriptRow[]): void;
  /** Closes the resources of the run. */
  dispose(): Promise<void>;
}
