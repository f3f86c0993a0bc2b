/** Whether a value is a promise, including those of other libraries. */
export function isPromise(value: unknown): value is Promise<unknown> {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return isObject && typeof (value as { then?: unknown }).then === 'function';
}
