import type { Clock } from '../clock.ts';

// Two more tries cure what passes by itself; longer waits are for whoever runs the turn.
export const DEFAULT_RETRIES = 2;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 60_000;

/** Whether asking again may help: what the provider says, or else what HTTP says. */
export function isRetryable(error: unknown): boolean {
  const { isRetryable: told, statusCode } = (typeof error === 'object' && error !== null ? error : {}) as {
    isRetryable?: unknown;
    statusCode?: unknown;
  };
  if (typeof told === 'boolean') return told;
  return (
    typeof statusCode === 'number' &&
    (statusCode === 408 || statusCode === 409 || statusCode === 429 || statusCode >= 500)
  );
}

/** How long to wait before the next try: what the provider asks for, or twice as long each time. */
export function waitMs(error: unknown, attempt: number, clock: Clock): number {
  const asked = retryAfterMs(error, clock);
  return Math.min(asked ?? FIRST_WAIT_MS * 2 ** (attempt - 1), LONGEST_WAIT_MS);
}

function retryAfterMs(error: unknown, clock: Clock): number | undefined {
  const { responseHeaders } = (typeof error === 'object' && error !== null ? error : {}) as {
    responseHeaders?: Record<string, string>;
  };
  const exact = Number(responseHeaders?.['retry-after-ms']);
  if (Number.isFinite(exact) && exact >= 0) return exact;
  const after = responseHeaders?.['retry-after'];
  if (after === undefined) return undefined;
  const seconds = Number(after);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1_000);
  return dateMs(after, clock);
}

/** `Retry-After` may be a date. Parsing one is no reading of the clock. */
function dateMs(text: string, clock: Clock): number | undefined {
  // biome-ignore lint/style/noRestrictedGlobals: Date.parse reads a text, not the time
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - clock.now());
}
