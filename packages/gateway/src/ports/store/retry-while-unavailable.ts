import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '@lastcall/core/internal';
import { StoreUnavailable } from './store-error.ts';

const FIRST_WAIT_MS = 50;

/**
 * Tries again while the store is away, up to a time. Only where nothing was written: what may have been must not be written twice.
 * The work runs as often as it is tried.
 */
export async function retryWhileUnavailable<T>(
  work: () => Promise<T>,
  { forMs, signal }: { forMs: number; signal: AbortSignal },
): Promise<T> {
  const until = Date.now() + forMs;
  for (let attempt = 1; ; attempt++) {
    const wait = backoffMs(attempt, { firstMs: FIRST_WAIT_MS });
    try {
      return await work();
    } catch (error) {
      const isAway = error instanceof StoreUnavailable && !error.inDoubt;
      if (!isAway || signal.aborted || Date.now() + wait > until) throw error;
    }
    await sleep(wait, undefined, { signal }).catch(() => {});
  }
}
