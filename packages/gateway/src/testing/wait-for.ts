import { setTimeout as sleep } from 'node:timers/promises';

const INTERVAL_MS = 20;

/**
 * Calls `read` every 20 ms until it gives something other than `undefined` or `false`, and returns that.
 * Throws after `timeoutMs`, 30,000 by default: a machine may be busy.
 */
export async function waitFor<T>(
  read: () => T | undefined | false | Promise<T | undefined | false>,
  { timeoutMs = 30_000 }: { readonly timeoutMs?: number } = {},
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await read();
    if (value !== undefined && value !== false) return value;
    if (performance.now() >= deadline) throw new Error(`waitFor: still no value after ${timeoutMs} ms.`);
    await sleep(INTERVAL_MS);
  }
}
