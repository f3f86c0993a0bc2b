import type { Logger } from '@lastcall/core';
import { deliverWake } from './deliver-wake.ts';
import type { Engine, Wake } from './engine.ts';

/**
 * The engine of a gateway that does not share its database. Nothing survives the process: after a restart the sweep
 * finds the threads.
 */
export function createInProcessEngine({ logger }: { logger?: Logger } = {}): Engine {
  /** Threads to wake now, and whether they are urgent. One wake stands for all that were requested before it. */
  const waiting = new Map<string, boolean>();
  let wake: Wake | undefined;
  let delivery: NodeJS.Immediate | undefined;

  function add(threadId: string, isUrgent = false): void {
    waiting.set(threadId, isUrgent || waiting.get(threadId) === true);
    if (wake !== undefined) delivery ??= setImmediate(deliver);
  }

  /** A timer may fire a moment early, and a thread that is woken too early finds nothing to do: so the time is checked again. */
  function addAt(threadId: string, at: number): void {
    const wait = at - Date.now();
    if (wait <= 0) add(threadId);
    // The sweep finds later wakes when they are due, so sleeping agents cost no memory.
    else if (wait <= MAX_TIMER_MS) setTimeout(() => addAt(threadId, at), wait).unref();
  }

  function deliver(): void {
    delivery = undefined;
    const threads = [...waiting];
    waiting.clear();
    for (const [threadId, isUrgent] of threads)
      if (wake !== undefined) void deliverWake(wake, { threadId, isUrgent }, logger);
  }

  return {
    async enqueue(tx, threadId, at) {
      tx.afterCommit(() => (typeof at === 'number' ? addAt(threadId, at) : add(threadId, at === 'urgent')));
    },
    async start(newWake) {
      wake = newWake;
      if (waiting.size > 0) delivery ??= setImmediate(deliver);
    },
    async stop() {
      wake = undefined;
      clearImmediate(delivery);
      delivery = undefined;
    },
  };
}

const MAX_TIMER_MS = 60_000;
