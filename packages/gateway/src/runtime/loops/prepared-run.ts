import type { LanguageModelV4 } from '@ai-sdk/provider';

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
  /** Closes the resources of the run. */
  dispose(): Promise<void>;
}
