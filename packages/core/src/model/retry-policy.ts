import { backoffMs } from '../backoff-ms.ts';
import type { Clock } from '../clock.ts';

// Two more attempts handle short failures; longer waits are for the host.
export const DEFAULT_RETRIES = 2;
const WAIT = { firstMs: 500, maxMs: 60_000 };

// A malformed response, including a stream that ended too early: the request is not at fault.
const DAMAGED: readonly unknown[] = ['AI_InvalidResponseDataError', 'AI_EmptyResponseBodyError', 'AI_JSONParseError'];
// Temporary errors, for a stream error that has only a type.
const PASSING: readonly unknown[] = ['server_error', 'overloaded_error', 'rate_limit_error'];

/** Whether asking again may help, according to the provider, or else to HTTP. */
export function isRetryable(error: unknown): boolean {
  const said = (typeof error === 'object' && error !== null ? error : {}) as Partial<
    Record<'isRetryable' | 'statusCode' | 'code' | 'name' | 'type', unknown>
  >;
  if (typeof said.isRetryable === 'boolean') return said.isRetryable;
  const status = said.statusCode ?? said.code;
  if (typeof status === 'number') return status === 408 || status === 409 || status === 429 || status >= 500;
  return DAMAGED.includes(said.name) || PASSING.includes(said.type);
}

/** How long to wait before the next attempt: what the provider requests, or twice as long each time. */
export function waitMs(error: unknown, attempt: number, clock: Clock): number {
  const asked = retryAfterMs(error, clock);
  return asked === undefined ? backoffMs(attempt, WAIT) : Math.min(asked, WAIT.maxMs);
}

function retryAfterMs(error: unknown, clock: Clock): number | undefined {
  const exact = header(error, 'retry-after-ms');
  if (exact !== undefined && Number(exact) >= 0) return Number(exact);
  const after = header(error, 'retry-after');
  if (after === undefined) return undefined;
  const seconds = Number(after);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1_000);
  return dateMs(after, clock);
}

/** A header's text. The case of its name does not matter, and an empty one counts as missing. */
function header(error: unknown, name: string): string | undefined {
  const { responseHeaders } = (typeof error === 'object' && error !== null ? error : {}) as {
    responseHeaders?: unknown;
  };
  if (typeof responseHeaders !== 'object' || responseHeaders === null) return undefined;
  const value: unknown = Object.entries(responseHeaders).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** `Retry-After` may be a date. Parsing one does not read the clock. */
function dateMs(text: string, clock: Clock): number | undefined {
  // biome-ignore lint/style/noRestrictedGlobals: Date.parse reads a text, not the time
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - clock.now());
}
