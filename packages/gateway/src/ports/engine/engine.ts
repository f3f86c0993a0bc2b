import type { Tx } from '../store/store.ts';

/**
 * Delivers wakes. It may lose one or deliver it twice: the thread's row ensures that one worker holds it (see
 * runtime/lease/lease.ts), and the sweep finds what was lost (see runtime/find-runnable-threads.ts).
 */
export interface Engine {
  /**
   * Wakes the thread on any free gateway once the transaction is committed: at the given time, or before all others if
   * a person waits for it ('urgent').
   */
  enqueue(tx: Tx, threadId: string, at?: number | 'urgent'): Promise<void>;
  /**
   * Starts to deliver wakes. `wake` resolves once the thread is claimed, left alone or queued, not when its work is
   * done.
   */
  start(wake: Wake): Promise<void>;
  /** Stops delivering. Wakes that are left stay for other gateways or for the next start. */
  stop(): Promise<void>;
}

export type Wake = (threadId: string, options?: { readonly isUrgent: boolean }) => Promise<void>;
