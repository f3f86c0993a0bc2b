/** Ends a cycle early. */
export interface CycleAbort {
  readonly signal: AbortSignal;
  /**
   * True if a cancel of the run was requested. Otherwise this gateway cannot continue, and the run stays open for
   * another worker.
   */
  isCancelled(): boolean;
  /** Aborts the cycle and leaves the run open. `runCycle` then rejects with the reason. */
  interrupt(reason: Error): void;
}
