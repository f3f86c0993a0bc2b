import type { Tx } from '../store/store.ts';

/**
 * Delivers wakes. It may lose one or deliver it twice: what makes a thread single-minded is its row (see threads/lease.ts), and
 * the sweep finds what was lost (see threads/sweep.ts).
 */
export interface Engine {
  /**
   * Wakes the thread once the transaction is durable, on whichever gateway is free: not before an instant, where one is given, or
   * ahead of others, where somebody waits for it.
   */
  enqueue(tx: Tx, threadId: string, at?: number | 'first'): Promise<void>;
  /** From here on wakes are delivered. `wake` resolves once the thread is taken, left or in line: not when its work is done. */
  start(wake: Wake): Promise<void>;
  /** Delivers no more. What was enqueued stays for others, or for the next start. */
  stop(): Promise<void>;
}

export type Wake = (threadId: string, options?: { readonly isUrgent: boolean }) => Promise<void>;
