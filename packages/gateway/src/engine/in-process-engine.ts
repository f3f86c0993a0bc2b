import type { Logger } from '@lastcall/core';
import { deliverWake } from './deliver-wake.ts';
import type { Engine, Wake } from './engine.ts';
import { WakeTimes } from './wake-times.ts';

/** For one gateway by itself. Nothing of it survives the process: the sweep finds what was to be woken. */
export function createInProcessEngine({ logger }: { logger?: Logger } = {}): Engine {
  /** Threads to be woken at once: one wake stands for all that were asked for before it. */
  const waiting = new Set<string>();
  const later = new WakeTimes();
  let wake: Wake | undefined;
  let delivery: NodeJS.Immediate | undefined;
  let timer: NodeJS.Timeout | undefined;
  let timerAt = Number.POSITIVE_INFINITY;

  function add(threadId: string): void {
    waiting.add(threadId);
    if (wake !== undefined) delivery ??= setImmediate(deliver);
  }

  function deliver(): void {
    delivery = undefined;
    const threads = [...waiting];
    waiting.clear();
    for (const threadId of threads) if (wake !== undefined) void deliverWake(wake, threadId, logger);
  }

  /** One timer, for the nearest instant, however many wakes there are. */
  function setTimer(): void {
    const nearest = later.nearest ?? Number.POSITIVE_INFINITY;
    if (wake === undefined || nearest >= timerAt) return;
    clearTimeout(timer);
    timerAt = nearest;
    timer = setTimeout(onTimer, Math.min(Math.max(nearest - Date.now(), 0), FARTHEST_MS));
  }

  function onTimer(): void {
    timerAt = Number.POSITIVE_INFINITY;
    for (const threadId of later.takeDue(Date.now())) add(threadId);
    setTimer();
  }

  return {
    async enqueue(tx, threadId, at) {
      tx.afterCommit(() => {
        const wait = at === undefined ? 0 : at - Date.now();
        if (at === undefined || wait <= 0) return add(threadId);
        // What is far is found by the sweep when it is due: those who sleep until then cost no memory.
        if (wait > FARTHEST_MS) return;
        later.add({ at, threadId });
        setTimer();
      });
    },
    async start(given) {
      wake = given;
      for (const threadId of waiting) add(threadId);
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

const FARTHEST_MS = 60_000;
