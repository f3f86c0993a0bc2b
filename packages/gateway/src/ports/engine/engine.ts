import type { Logger } from '@lastcall/core';

/**
 * Wakes threads of this gateway. It keeps no queue: a thread's work is in its inbox, and the thread's row decides which
 * worker holds it (see runtime/lease/lease.ts). A wake only saves the wait for the next sweep, which finds every thread
 * with work and no worker (see runtime/find-runnable-threads.ts). So a wake may come twice or get lost with its
 * process, and other gateways do not need it.
 */
export interface Engine {
  /** Wakes the thread soon. Call `Tx.wake` instead: what the thread should find must be committed first. */
  enqueue(threadId: string, options?: WakeOptions): void;
  /** Starts to deliver wakes, including those from before the start. */
  start(wake: Wake): Promise<void>;
  /** Stops delivering. Remaining wakes are delivered after the next start. */
  stop(): Promise<void>;
}

export interface WakeOptions {
  /** True if a person waits for the thread, so it goes first. */
  readonly isUrgent: boolean;
}

export type Wake = (threadId: string, options: WakeOptions) => Promise<void>;

export function createEngine({ logger }: { readonly logger?: Logger } = {}): Engine {
  /** Threads to wake, and whether that is urgent. One wake covers all requests that came before it. */
  const waiting = new Map<string, boolean>();
  let wake: Wake | undefined;
  let delivery: NodeJS.Immediate | undefined;

  function scheduleDelivery(): void {
    if (wake !== undefined && waiting.size > 0) delivery ??= setImmediate(deliver);
  }

  function deliver(): void {
    delivery = undefined;
    const threads = [...waiting];
    waiting.clear();
    for (const [threadId, isUrgent] of threads)
      wake?.(threadId, { isUrgent }).catch((error: unknown) =>
        logger?.error(`Waking thread ${threadId} failed. The sweep will try again.`, error),
      );
  }

  return {
    enqueue(threadId, { isUrgent } = { isUrgent: false }) {
      waiting.set(threadId, isUrgent || waiting.get(threadId) === true);
      scheduleDelivery();
    },
    async start(newWake) {
      wake = newWake;
      scheduleDelivery();
    },
    async stop() {
      wake = undefined;
      clearImmediate(delivery);
      delivery = undefined;
    },
  };
}
