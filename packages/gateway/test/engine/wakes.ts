import type { Wake } from '../../src/ports/engine/engine.ts';

/** A `wake` that remembers, and that can be made to hang. */
export interface RecordedWakes {
  readonly wake: Wake;
  /** In the order they came. */
  readonly threads: readonly string[];
  /** Those that somebody waits for. */
  readonly firsts: readonly string[];
  /** Resolves once the thread was woken so often. */
  of(threadId: string, times?: number): Promise<void>;
  /** The next wake of the thread does not end before it is let go. */
  hold(threadId: string): { readonly begun: Promise<void>; readonly release: () => void };
}

export function recordWakes(): RecordedWakes {
  const threads: string[] = [];
  const firsts: string[] = [];
  const held = new Map<string, { begin: () => void; released: Promise<void> }>();
  const look: (() => void)[] = [];
  const timesOf = (threadId: string): number => threads.filter((one) => one === threadId).length;
  return {
    threads,
    firsts,
    async wake(threadId, { isUrgent } = { isUrgent: false }) {
      threads.push(threadId);
      if (isUrgent) firsts.push(threadId);
      for (const again of look.splice(0)) again();
      const hold = held.get(threadId);
      held.delete(threadId);
      hold?.begin();
      await hold?.released;
    },
    async of(threadId, times = 1) {
      while (timesOf(threadId) < times) await new Promise<void>((resolve) => look.push(resolve));
    },
    hold(threadId) {
      const begun = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      held.set(threadId, { begin: begun.resolve, released: released.promise });
      return { begun: begun.promise, release: released.resolve };
    },
  };
}
