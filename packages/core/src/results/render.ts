/**
 * A value as the model reads it: text verbatim, prose in an array joined by blank lines, anything else as JSON without
 * its empty fields. Never throws: values that cannot be shown are named.
 */
export function renderValue(value: unknown, render?: (value: never) => string): string {
  try {
    if (render !== undefined) return renderBy(render, value);
    return renderPlain(value);
  } catch {
    return UNREADABLE;
  }
}

const UNREADABLE = '[unreadable value]';
// Data meant for a model is nowhere near this deep, and the stack allows far more.
const DEEPEST = 200;
// More than a model could read.
const MOST_NODES = 100_000;

function renderBy(render: (value: never) => string, value: unknown): string {
  try {
    const text: unknown = render(value as never);
    if (typeof text === 'string') return text;
  } catch {
    // If the renderer throws, the default is used: the call has succeeded, and its value is worth showing.
  }
  return renderPlain(value);
}

function renderPlain(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return value;
  // The same text as JSON.stringify, without its cost.
  if (typeof value === 'boolean' || Number.isFinite(value)) return String(value);
  if (Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string'))
    return value.join('\n\n');
  return toJson(value);
}

function toJson(value: unknown): string {
  try {
    const text = JSON.stringify(value, dropEmpty);
    if (text !== undefined) return text;
  } catch {
    // A cyclic value, a BigInt, a getter that throws, or depth beyond the stack: the value is shown as far as it can be read.
  }
  return JSON.stringify(toReadable(value, { seen: new Set(), left: MOST_NODES }, 0)) ?? String(value);
}

function dropEmpty(this: unknown, _key: string, value: unknown): unknown {
  if (value === null && !Array.isArray(this)) return _key === '' ? value : undefined;
  if (typeof value === 'object' && value !== null && (value instanceof Map || value instanceof Set))
    return spread(value);
  return value;
}

function spread(collection: Map<unknown, unknown> | Set<unknown>): unknown {
  return collection instanceof Set ? [...collection] : Object.fromEntries(collection);
}

/** State of one walk: an object is shown once, so that a graph costs no more than its nodes. */
interface Walk {
  readonly seen: Set<object>;
  left: number;
}

function toReadable(value: unknown, walk: Walk, depth: number): unknown {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'function' || typeof value === 'symbol') return `[${typeof value}]`;
  if (typeof value !== 'object' || value === null) return value;
  if (walk.seen.has(value)) return '[seen above]';
  if (depth >= DEEPEST) return '[too deep]';
  if (walk.left-- <= 0) return '[too much]';
  walk.seen.add(value);
  return attempt(() => {
    if (value instanceof Map || value instanceof Set) return toReadable(spread(value), walk, depth + 1);
    if (Array.isArray(value)) return value.map((item) => toReadable(item, walk, depth + 1));
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON === 'function') return toReadable(toJSON.call(value), walk, depth + 1);
    return readableFields(value as Record<string, unknown>, walk, depth + 1);
  });
}

function readableFields(fields: Record<string, unknown>, walk: Walk, depth: number): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const key of Object.keys(fields)) {
    const field = attempt(() => toReadable(fields[key], walk, depth));
    if (field !== undefined && field !== null) shown[key] = field;
  }
  return shown;
}

function attempt(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    return UNREADABLE;
  }
}
