import { ClientError } from '@lastcall/client';

/** True if the gateway said that it did nothing, and would say so again. Otherwise it may have done it, or does it if it is asked again. */
export function isRefused(error: unknown): boolean {
  if (!(error instanceof ClientError) || error.code === 'unreachable' || error.status === undefined) return false;
  return error.status >= 400 && error.status < 500 && !ASK_AGAIN.has(error.status);
}

/** The request took too long, or there were too many. */
const ASK_AGAIN: ReadonlySet<number> = new Set([408, 429]);
