import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';

/**
 * The attempts of a request whose replies broke off, by the error that ended the request. A provider charges for them, but not for
 * attempts that it refused. After a reply, `ModelReply.brokenOff` has the number.
 */
const attempts = new WeakMap<object, number>();

export function brokenOffBefore(error: unknown): number {
  return isObject(error) ? (attempts.get(error) ?? 0) : 0;
}

export function noteBrokenOff(error: unknown, count: number): void {
  // Also 0: a model may throw the same error again.
  if (isObject(error)) attempts.set(error, count);
}

/** True if an attempt that ended with this error had begun its reply. */
export function isBrokenOff(error: unknown, hasWritten: boolean): boolean {
  const { name, code } = (isObject(error) ? error : {}) as { readonly name?: unknown; readonly code?: unknown };
  return hasWritten || code === 'cut_stream' || name === 'AbortError';
}

/** True for the parts of a stream that a model has written. */
export function isWritten(part: LanguageModelV4StreamPart | undefined | null): boolean {
  return part !== undefined && part !== null && !BEFORE.has(part.type);
}

const BEFORE: ReadonlySet<string> = new Set(['stream-start', 'response-metadata', 'raw', 'error']);

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
