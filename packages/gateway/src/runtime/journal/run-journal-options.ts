import type { Stop } from '@lastcall/core';
import type { Services } from '../../ports/services.ts';
import type { KnownSecrets } from '../../telemetry/known-secrets.ts';
import type { ThreadFiles } from '../files/thread-files.ts';
import type { DecisionContext } from '../run/decision.ts';
import type { TurnStopped } from '../run/run-event.ts';
import type { OutputLimit } from '../tools/output-limit.ts';
import type { ApplyContext } from './apply-context.ts';
import type { RequestNotes } from './request-notes.ts';

/** What the journal of a run needs. */
export interface RunJournalOptions extends ApplyContext {
  readonly services: Pick<Services, 'store' | 'limits' | 'logger'>;
  /** True if the success of this call ends the run. */
  readonly endsRun: NonNullable<DecisionContext['endsRun']>;
  /** Keeps outputs within their limit, and holds what was cut off. */
  readonly outputs: OutputLimit;
  /** Records what the model was sent. */
  readonly requests: RequestNotes;
  /** These secrets are removed from the reported changes of a call. */
  readonly secrets: KnownSecrets;
  /** The files of the run's tools. Undefined if they have none that last. */
  readonly files?: ThreadFiles | undefined;
  /**
   * True if a cancel of the run was requested: then calls that the abort interrupted are settled, and the run ends. Any
   * other abort comes from this gateway, and nothing is written after it: an interrupted call may still have had its
   * effect, so the run stays as it is, and the worker that takes it over treats the call like one of a killed process.
   */
  readonly isCancelled: () => boolean;
  /** Aborts the turn: a cancel of the run was requested. */
  readonly cancel: () => void;
  /** When this is aborted, the journal stops waiting for the store. */
  readonly signal: AbortSignal;
  /** What the run has used and said, and whether the transcript is compacted before the thread is released. */
  readonly endOf: (stop: Stop) => Pick<TurnStopped, 'usage' | 'response' | 'reply' | 'isOverBudget' | 'held'>;
  /** True if a space sees the tool's calls that wait. Default: if it sees the tool's calls. */
  readonly showsWait?: ((toolName: string) => boolean) | undefined;
  /** Called after a call changed the agent's stored data (goals, memories, plans, its space). */
  readonly onStaged: () => Promise<void>;
}
