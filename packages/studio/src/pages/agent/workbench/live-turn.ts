import type { DraftTurn } from '../../../data/drafts.ts';

/** The newest turn, as it happens, and the ids of the runs before it. */
export interface LiveTurn {
  readonly runId: string;
  readonly before: readonly string[];
  readonly turn: DraftTurn | undefined;
  /** False while the turn before it is still shown. */
  readonly isLoaded: boolean;
  /** The text that the model is writing. */
  readonly writing: string;
  readonly error: Error | undefined;
  cancel(): Promise<void>;
}
