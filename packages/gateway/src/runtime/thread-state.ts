import { JournalStalled } from '@lastcall/core';
import { StoreUnavailable } from '../ports/store/store-error.ts';
import { keepsThread } from './loops/leaves-run-open.ts';
import type { ActiveRun } from './run/active-run.ts';

/**
 * What a worker does: `running` → `stopping` → `interrupted`, and never back.
 *
 * - `stopping`: it claims no more threads, and current runs may finish in the grace time.
 * - `interrupted`: the grace time is over. No further run starts, not even for a thread that is just being claimed.
 */
export type WorkerPhase = 'running' | 'stopping' | 'interrupted';

/**
 * What a worker does with a thread that it holds: `claimed` → `running` ⇄ `between-runs`. It may release the thread
 * in each of them.
 *
 * - `taken`: the run of a dead worker was taken over, and is being read. Then the thread is `claimed`.
 * - `claimed`: its first run was claimed together with it, and has not started.
 * - `between-runs`: the next run is read from the store. If it is unknown whether the last transaction was
 *   committed, that may have released the thread, so the thread is claimed again first.
 */
export type ThreadState =
  | { readonly kind: 'taken'; readonly runId: string }
  | { readonly kind: 'claimed'; readonly run: ActiveRun }
  | ({ readonly kind: 'running' } & RunningRun)
  | { readonly kind: 'between-runs'; readonly lastRunId: string; readonly lastCommit: 'known' | 'unknown' };

interface RunningRun {
  readonly runId: string;
  /** Cancels the run. */
  readonly cancel: () => void;
  /** Ends the turn and leaves the run open. */
  readonly interrupt: (reason: Error) => void;
}

export type ThreadEvent =
  | ({ readonly type: 'run-started' } & RunningRun)
  | { readonly type: 'run-ended' }
  | { readonly type: 'commit-unknown' };

/** The next state of a held thread. This is a pure function. */
export function nextThread(state: ThreadState, event: ThreadEvent): ThreadState {
  switch (event.type) {
    case 'run-started': {
      const { runId, cancel, interrupt } = event;
      return { kind: 'running', runId, cancel, interrupt };
    }
    case 'run-ended':
      return state.kind === 'running' ? { kind: 'between-runs', lastRunId: state.runId, lastCommit: 'known' } : state;
    case 'commit-unknown':
      // A thread with a claimed run is only written to when it is released, which is not tried again.
      return state.kind === 'between-runs' ? { ...state, lastCommit: 'unknown' } : state;
  }
}

/** The run that is worked on or was last worked on. */
export function lastRunOf(state: ThreadState): string {
  switch (state.kind) {
    case 'claimed':
      return state.run.runId;
    case 'taken':
    case 'running':
      return state.runId;
    case 'between-runs':
      return state.lastRunId;
  }
}

/**
 * What follows an error in the work on a held thread. `leave`: the thread cannot be released now, and another worker
 * takes it when its lease has run out. `throw`: the error is none that the work can continue after.
 */
export type AfterError = 'continue' | 'pause' | 'leave' | 'throw';

export function decideAfterError(
  state: ThreadState,
  error: unknown,
  phase: WorkerPhase,
): readonly [state: ThreadState, then: AfterError] {
  // The last write has ended, and may have released the thread.
  if (error instanceof JournalStalled) return [nextThread(state, { type: 'commit-unknown' }), 'continue'];
  // The run continues from what is stored, or ends there if it was cancelled.
  if (keepsThread(error)) return [state, 'continue'];
  if (!(error instanceof StoreUnavailable)) return [state, 'throw'];
  const next = error.inDoubt ? nextThread(state, { type: 'commit-unknown' }) : state;
  // Nothing is lost: what was not written is done again once the store is back, if this worker still holds the thread.
  return [next, phase === 'running' ? 'pause' : 'leave'];
}
