import { StoredTranscriptError } from '../errors.ts';
import { parseJson } from '../parse-json.ts';
import { toBase64 } from '../to-base64.ts';
import { flawOfCalls } from './call-order.ts';
import type { Entry } from './entry.ts';
import { entryShape } from './entry-shape.ts';
import { listOf } from './shape.ts';

/** A transcript as plain data. */
export interface TranscriptJson {
  readonly version: 1;
  readonly entries: readonly Entry[];
}

/**
 * The entries as JSON can hold them, so that what is stored and what is read are the same. Never throws for a value of
 * a tool.
 */
export function toTranscriptJson(entries: readonly Entry[]): TranscriptJson {
  return { version: 1, entries: entries.map(toPlainEntry) };
}

function toPlainEntry(entry: Entry): Entry {
  const plain = toPlain(entry, []) as Entry;
  const answer = 'answer' in entry ? entry.answer : undefined;
  // JSON leaves out what it cannot hold, and an answer without its result would be invalid.
  const isLost =
    answer !== undefined && 'result' in answer && !('result' in ((plain as { answer?: object }).answer ?? {}));
  return isLost ? ({ ...plain, answer: { result: null } } as Entry) : plain;
}

/**
 * True if JSON can hold the entry unchanged, so that nothing has to be copied before it is written. Nearly all entries
 * are like this, and checking costs a fraction of a copy. The write may still differ: a getter or a proxy may throw the
 * next time.
 */
export function isPlainEntry(entry: Entry): boolean {
  try {
    return isPlain(entry, 0);
  } catch {
    return false;
  }
}

/** The value itself if JSON can hold it unchanged; otherwise what JSON can hold of it, as in a transcript. */
export function toPlainValue(value: unknown): unknown {
  try {
    if (isPlain(value, 0)) return value;
  } catch {
    // Something in it cannot be read: the copy says where.
  }
  return toPlain(value, []);
}

function isPlain(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value);
    case 'object':
      return value === null || (depth < DEEPEST_PLAIN && isPlainObject(value, depth + 1));
    default:
      return false;
  }
}

/** A value that contains itself counts as too deep. */
function isPlainObject(value: object, depth: number): boolean {
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Array.prototype) {
    const items = value as readonly unknown[];
    for (let at = 0; at < items.length; at++) if (!isPlain(items[at], depth)) return false;
    return true;
  }
  if (prototype !== Object.prototype) return false;
  for (const key of Object.keys(value)) if (!isPlain((value as Record<string, unknown>)[key], depth)) return false;
  return true;
}

const DEEPEST_PLAIN = 32;

const entriesShape = listOf(entryShape);

/** Reads the result of `toTranscriptJson`, whole or any prefix of it. Refuses anything else and names the path. */
export function fromTranscriptJson(json: unknown): readonly Entry[] {
  const { version, entries } = (parse(json) ?? {}) as { version?: unknown; entries?: unknown };
  if (version === undefined)
    throw new StoredTranscriptError(
      'version',
      'is missing. Give what transcript.toJSON() returned, or { version: 1, entries }.',
    );
  if (version !== 1) throw new StoredTranscriptError('version', `must be 1, and it is ${JSON.stringify(version)}.`);
  if (!Array.isArray(entries)) throw new StoredTranscriptError('entries', 'must be an array.');
  // A copy is kept, so that later changes by the caller do not change the history.
  const copied = entries.map((entry) => toPlain(entry, []) as Entry);
  const flaw = entriesShape(copied) ?? flawOfCalls(copied);
  if (flaw !== undefined) throw new StoredTranscriptError(`entries${flaw.at}`, flaw.problem);
  return copied.map(withUrls);
}

/** Reads one stored entry, by itself, from parsed JSON that is the caller's to give away. Names the path of a problem. */
export function fromEntryJson(json: unknown): Entry {
  const flaw = entryShape(json);
  if (flaw !== undefined) throw new StoredTranscriptError(`entry${flaw.at}`, flaw.problem);
  return withUrls(json as Entry);
}

/** The provider interface has URLs as objects, and JSON has texts. */
function withUrls(entry: Entry): Entry {
  if (entry.kind !== 'message' || !Array.isArray(entry.message.content)) return entry;
  for (const part of entry.message.content as { data?: { type?: unknown; url?: unknown } }[]) {
    const { data } = part;
    // URL.parse is not used: the oldest supported Node lacks it.
    if (data?.type === 'url' && typeof data.url === 'string' && URL.canParse(data.url)) data.url = new URL(data.url);
  }
  return entry;
}

function parse(json: unknown): unknown {
  if (typeof json !== 'string') return json;
  try {
    return parseJson(json);
  } catch (cause) {
    throw new StoredTranscriptError('transcript', 'is not JSON.', { cause });
  }
}

// Tools return nothing nearly this deep, and the stack allows far more.
const DEEPEST = 200;

/** `path` holds the objects that contain the value. */
function toPlain(value: unknown, path: unknown[]): unknown {
  switch (typeof value) {
    case 'bigint':
      return String(value);
    case 'number':
      // JSON has no -0: adding 0 gives the 0 that would be read back.
      return Number.isFinite(value) ? value + 0 : null;
    case 'function':
    case 'symbol':
      return undefined;
    case 'object':
      return value === null ? null : toPlainObject(value, path);
    default:
      return value;
  }
}

function toPlainObject(value: object, path: unknown[]): unknown {
  // The provider interface takes bytes in either form, and JSON holds only this one.
  if (value instanceof Uint8Array) return toBase64(value);
  if (path.includes(value)) return '[circular]';
  if (path.length >= DEEPEST) return '[too deep]';
  const depth = path.push(value);
  try {
    if (typeof (value as { toJSON?: unknown }).toJSON === 'function')
      return toPlain((value as { toJSON(): unknown }).toJSON(), path);
    if (Array.isArray(value)) return value.map((item) => toPlain(item, path) ?? null);
    if (value instanceof Map) return toPlain(Object.fromEntries(value), path);
    if (value instanceof Set) return toPlain([...value], path);
    return plainFields(value as Record<string, unknown>, path);
  } catch {
    return '[unreadable value]';
  } finally {
    path.length = depth - 1;
  }
}

function plainFields(fields: Record<string, unknown>, path: unknown[]): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  for (const key of Object.keys(fields)) {
    const field = toPlain(fields[key], path);
    if (field === undefined) continue;
    // Assigning "__proto__" would set the prototype, so the field is defined.
    if (key === '__proto__')
      Object.defineProperty(plain, key, { value: field, enumerable: true, writable: true, configurable: true });
    else plain[key] = field;
  }
  return plain;
}
