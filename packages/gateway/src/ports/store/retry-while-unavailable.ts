import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '@lastcall/core/internal';
import { StoreUnavailable } from './store-error.ts';

const FIRST_WAIT_MS = 50;

/**
 * Retries while the store is unavailable, up to a time limit. Use it only for work that has written nothing: a write
 * whose outcome is unknown must not be repeated. The work runs once per attempt.
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
