import type { Middleware } from '@lastcall/core';
import { isTraced, tracing } from '@lastcall/core/tracing';
import type { Redact } from './redact.ts';

interface TracedBy {
  /** What spans hold. Default: no texts. */
  readonly tracing?: { readonly texts: boolean } | undefined;
  readonly redact?: Redact | undefined;
}

/** Makes spans of requests and calls, if the process has an OpenTelemetry SDK. */
export function traceCalls({ tracing: options, redact }: TracedBy): readonly Middleware[] {
  return isTraced() ? [tracing({ ...options, ...(redact === undefined ? {} : { redact }) })] : [];
}
