/** How long to wait before the next try. */
export interface Backoff {
  /** Default 500. */
  readonly firstMs?: number;
  /** Default 10,000. */
  readonly maxMs?: number;
}

/** Twice as long each time, and never the same for two clients: they would all come back at once. */
export function backoffMs(failures: number, { firstMs = 500, maxMs = 10_000 }: Backoff = {}): number {
  return Math.min(maxMs, firstMs * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);
}

/** A timer for longer than this fires at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** Resolves after the time, or at once when the signal is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, Math.min(ms, LONGEST_MS));
    signal?.addEventListener('abort', end);
  });
}
