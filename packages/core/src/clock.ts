/** Time as a port: all that core knows about it. Both are in milliseconds. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Resolves after `ms`, or as soon as `signal` aborts: an early wake is not an error. `sleep(0)` lets everything else
   * that is due, including timers, run first.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /**
   * Calls `wake` after `ms`, and returns a function that cancels it. Optional: `sleep` does the same at ten times the
   * cost, and every call with a timeout needs one.
   */
  after?(ms: number, wake: () => void): () => void;
}
