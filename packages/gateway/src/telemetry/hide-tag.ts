import { LRUCache } from 'lru-cache';

/** What stands in the place of an agent's frame id in everything that is not a frame of ours. A name of a tool may hold it too. */
const HIDDEN = 'hidden';

/** The text without the id, however it is written: a frame that somebody copied or guessed is none any more. */
export function hideTag(text: string, tag: string): string {
  return text.replace(tagPattern(tag), HIDDEN);
}

/** The same in every text of a value, in the names of its fields and in errors. The value itself, where nothing is to be hidden. */
export function hideTagIn<T>(value: T, tag: string): T {
  return hide(value, tagPattern(tag)) as T;
}

/** Ids are letters and digits. Some models take no notice of case. */
export function tagPattern(tag: string): RegExp {
  return patterns.memo(tag);
}

const patterns = new LRUCache<string, RegExp>({ max: 1_000, memoMethod: (tag) => new RegExp(tag, 'gi') });

// Of an agent's making, with the names of our frames before it: for what knows no agent, such as a log.
const FRAME_ID = /\b(inbox|situation|summary|transcript)-[0-9a-f]{24}\b/gi;

/** A text without the ids of any agent's frames. */
export function hideFrameIds(text: string): string {
  return text.replace(FRAME_ID, `$1-${HIDDEN}`);
}

function hide(value: unknown, tag: RegExp): unknown {
  if (typeof value === 'string') return value.replace(tag, HIDDEN);
  if (Array.isArray(value)) return hideItems(value, tag);
  if (value instanceof Error) return hideInError(value, tag);
  return isPlainObject(value) ? hideFields(value, tag) : value;
}

function hideItems(items: readonly unknown[], tag: RegExp): readonly unknown[] {
  const hidden = items.map((item) => hide(item, tag));
  return hidden.some((item, index) => item !== items[index]) ? hidden : items;
}

function hideFields(fields: Readonly<Record<string, unknown>>, tag: RegExp): Readonly<Record<string, unknown>> {
  const entries = Object.entries(fields);
  const hidden = entries.map(([key, field]): [string, unknown] => [key.replace(tag, HIDDEN), hide(field, tag)]);
  const isSame = hidden.every(([key, field], index) => key === entries[index]?.[0] && field === entries[index]?.[1]);
  return isSame ? fields : Object.fromEntries(hidden);
}

/** A copy, as far as a log reads it: whoever threw it may still use theirs. */
function hideInError(error: Error, tag: RegExp): Error {
  const { name, message, stack, cause, code } = error as Error & { code?: unknown };
  const shown = { name, message, stack, cause, code };
  const hidden = hideFields(shown, tag) as typeof shown;
  if (hidden === shown) return error;
  const { message: text, cause: why, ...rest } = hidden;
  return Object.assign(new Error(text, why === undefined ? {} : { cause: why }), rest);
}

/** Addresses, bytes and what else has a class of its own are no texts. */
function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
