/**
 * Replaces every text of a value: in lists, objects, names of fields and errors. Returns the same value if nothing was replaced,
 * so that shared values stay shared.
 */
export function replaceTexts<T>(value: T, replace: ReplaceText): T {
  return replaceIn(value, replace) as T;
}

export interface ReplaceText {
  (text: string): string;
  /** Replaces a number, which may be a secret made of digits. Default: numbers stay. */
  readonly number?: (value: number) => unknown;
}

function replaceIn(value: unknown, replace: ReplaceText): unknown {
  if (typeof value === 'string') return replace(value);
  if (typeof value === 'number') return replace.number === undefined ? value : replace.number(value);
  if (Array.isArray(value)) return replaceItems(value, replace);
  if (value instanceof Error) return replaceInError(value, replace);
  return isPlainObject(value) ? replaceFields(value, replace) : value;
}

function replaceItems(items: readonly unknown[], replace: ReplaceText): readonly unknown[] {
  let replaced: unknown[] | undefined;
  items.forEach((item, index) => {
    const safe = replaceIn(item, replace);
    if (safe === item) return;
    replaced ??= items.slice();
    replaced[index] = safe;
  });
  return replaced ?? items;
}

function replaceFields(
  fields: Readonly<Record<string, unknown>>,
  replace: ReplaceText,
): Readonly<Record<string, unknown>> {
  const keys = Object.keys(fields);
  // Usually nothing is replaced, and then nothing is copied.
  let replaced: [string, unknown][] | undefined;
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string;
    const field = fields[key];
    const safeKey = replace(key);
    const safe = replaceIn(field, replace);
    if (safeKey !== key || safe !== field) replaced ??= keys.slice(0, index).map((one) => [one, fields[one]]);
    replaced?.push([safeKey, safe]);
  }
  return replaced === undefined ? fields : Object.fromEntries(replaced);
}

/** Copies the fields of the error that a log reads, because the code that threw it may still use it. */
function replaceInError(error: Error, replace: ReplaceText): Error {
  const { name, message, stack, cause, code } = error as Error & { code?: unknown };
  const visible = { name, message, stack, cause, code };
  const replaced = replaceFields(visible, replace) as typeof visible;
  if (replaced === visible) return error;
  const { message: text, cause: why, ...rest } = replaced;
  return Object.assign(new Error(text, why === undefined ? {} : { cause: why }), rest);
}

/** URLs, bytes and other class instances hold no text to replace. */
function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
