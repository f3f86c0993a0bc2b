/** Ends a run early. */
export interface RunAbort {
  readonly signal: AbortSignal;
  /**
   * True if a cancel of the run was requested. Otherwise this gateway cannot continue, and the run stays open for
   * another worker.
   */
  isCancelled(): boolean;
  /** Aborts the turn because a cancel of the run was requested. */
  cancel(): void;
  /** Aborts the turn and leaves the run open. `performRun` then rejects with the reason. */
  interrupt(reason: Error): void;
}
