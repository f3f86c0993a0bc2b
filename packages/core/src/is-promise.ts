/** Whether a value is to be waited for, whoever made its promise. */
export function isPromise(value: unknown): value is Promise<unknown> {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return isObject && typeof (value as { then?: unknown }).then === 'function';
}
