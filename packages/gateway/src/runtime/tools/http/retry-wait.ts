import { backoffMs } from '@lastcall/core/internal';

const MOST_ATTEMPTS = 3;
const FIRST_WAIT_MS = 250;

/**
 * How long to wait before a request is repeated, or undefined if it is not repeated: there were enough attempts, the
 * answer will not change, or the call would time out first.
 */
export function retryWaitMs(
  failure: { readonly status?: number | undefined; readonly retryAfter?: string | undefined },
  { attempt, deadline }: { readonly attempt: number; readonly deadline: number | undefined },
): number | undefined {
  const { status, retryAfter } = failure;
  if (attempt >= MOST_ATTEMPTS || (status !== undefined && status !== 429 && status < 500)) return undefined;
  const backoff = backoffMs(attempt, { firstMs: FIRST_WAIT_MS }) * (0.5 + Math.random() / 2);
  const waitMs = Math.max(backoff, retryAfterMs(retryAfter) ?? 0);
  return deadline !== undefined && Date.now() + waitMs >= deadline ? undefined : waitMs;
}

/** `Retry-After` is a number of seconds or a date. */
function retryAfterMs(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text.trim())) return Number(text) * 1_000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}
