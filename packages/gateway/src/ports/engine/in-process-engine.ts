import type { Logger } from '@lastcall/core';
import { deliverWake } from './deliver-wake.ts';
import type { Engine, Wake } from './engine.ts';
import { WakeTimes } from './wake-times.ts';

/**
 * The engine of a gateway that does not share its database. Nothing survives the process: after a restart the sweep
 * finds the threads.
 */
export function createInProcessEngine({ logger }: { logger?: Logger } = {}): Engine {
  /** Threads to wake now. One wake stands for all that were requested before it. */
  const waiting = new Map<string, { readonly threadId: string; readonly isUrgent: boolean }>();
  const later = new WakeTimes();
  let wake: Wake | undefined;
  let delivery: NodeJS.Immediate | undefined;
  let timer: NodeJS.Timeout | undefined;
  let timerAt = Number.POSITIVE_INFINITY;

  function add(threadId: string, isUrgent = false): void {
    waiting.set(threadId, { threadId, isUrgent: isUrgent || waiting.get(threadId)?.isUrgent === true });
    if (wake !== undefined) delivery ??= setImmediate(deliver);
  }

  function deliver(): void {
    delivery = undefined;
    const threads = [...waiting.values()];
    waiting.clear();
    for (const thread of threads) if (wake !== undefined) void deliverWake(wake, thread, logger);
  }

  /** Sets one timer for the nearest time, however many wakes there are. */
  function setTimer(): void {
    const nearest = later.nearest ?? Number.POSITIVE_INFINITY;
    if (wake === undefined || nearest >= timerAt) return;
    clearTimeout(timer);
    timerAt = nearest;
    timer = setTimeout(onTimer, Math.min(Math.max(nearest - Date.now(), 0), MAX_TIMER_MS));
  }

  function onTimer(): void {
    timerAt = Number.POSITIVE_INFINITY;
    for (const threadId of later.takeDue(Date.now())) add(threadId);
    setTimer();
  }

  return {
    async enqueue(tx, threadId, at) {
      tx.afterCommit(() => {
        if (at === undefined || at === 'urgent') return add(threadId, at === 'urgent');
        const wait = at - Date.now();
        if (wait <= 0) return add(threadId);
        // The sweep finds later wakes when they are due, so sleeping agents cost no memory.
        if (wait > MAX_TIMER_MS) return;
        later.add({ at, threadId });
        setTimer();
      });
    },
    async start(newWake) {
      wake = newWake;
      for (const { threadId, isUrgent } of waiting.values()) add(threadId, isUrgent);
      setTimer();
    },
    async stop() {
      wake = undefined;
      clearImmediate(delivery);
      clearTimeout(timer);
      delivery = undefined;
      timerAt = Number.POSITIVE_INFINITY;
    },
  };
}

const MAX_TIMER_MS = 60_000;
