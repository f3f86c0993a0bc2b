/** Resolves when the work has ended, when the time is over, or when the signal is aborted. */
export async function atMost(ms: number, work: Promise<unknown>, signal?: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, Math.min(ms, LONGEST_TIMER_MS));
  const stop = (): void => resolve();
  signal?.addEventListener('abort', stop);
  if (signal?.aborted === true) resolve();
  try {
    await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

/** The longest delay of a timer. Node fires a timer with a longer delay at once. */
export const LONGEST_TIMER_MS: number = 2 ** 31 - 1;
