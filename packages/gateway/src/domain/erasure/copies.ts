import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import { keepStructure } from './keep-structure.ts';
import { ERASED } from './mark.ts';

/**
 * Finds copies of erased texts in other texts, e.g. in what an agent wrote later. It knows hashes of the texts, not the texts:
 *
 * - every six words in a row that have 24 characters or more together,
 * - a whole text of two to five words, if it has 20 characters or more,
 * - what is written without spaces, if it has an "@", a digit and five characters, or 20 characters: addresses, numbers, codes.
 *
 * Shorter pieces say nothing about a person, and would be found everywhere. Ids of the gateway are not copies: a person who wrote one
 * did not make it theirs, and rows refer to each other by ids.
 */
export class Copies {
  readonly #prints: Set<number>;
  readonly #names: readonly RegExp[];
  readonly #authorId: string | undefined;

  constructor({ prints = [], names = [], authorId }: CopiesOptions = {}) {
    this.#prints = new Set(prints);
    this.#names = names.filter(isRare).map(wholeWords);
    this.#authorId = authorId;
  }

  get isEmpty(): boolean {
    return this.#prints.size === 0 && this.#names.length === 0 && this.#authorId === undefined;
  }

  get prints(): ReadonlySet<number> {
    return this.#prints;
  }

  /** Learns a text that is going to be erased. */
  add(text: string): void {
    const words = wordsOf(text);
    for (const [at, word] of words.entries()) {
      const glued = word.isGlued ? 1 : gluedFrom(words, at);
      const hasId = words.slice(at, at + glued).some(({ text }) => OWN_ID.test(text));
      if (!hasId && isTelling(text.slice(word.start, words[at + glued - 1]?.end))) this.#addPrint(words, at, glued);
      if (!OWN_ID.test(word.text) && isTelling(word.text)) this.#addPrint(words, at, 1);
      const print = printAt(words, at, WINDOW);
      if (print !== undefined && print.characters >= WINDOW_CHARACTERS) this.#prints.add(print.hash);
    }
    if (words.length < 2 || words.length >= WINDOW) return;
    const whole = printAt(words, 0, words.length);
    if (whole !== undefined && whole.characters >= SHORT_CHARACTERS) this.#prints.add(whole.hash);
  }

  #addPrint(words: readonly Word[], at: number, length: number): void {
    const print = printAt(words, at, length);
    if (print !== undefined) this.#prints.add(print.hash);
  }

  /** The text with a mark in place of every copy. The same text if there is none. */
  redact(text: string): string {
    return this.#withoutNames(this.#withoutPrints(text, false));
  }

  #withoutNames(text: string): string {
    return this.#names.reduce((one, name) => one.replace(name, ERASED), text);
  }

  /** The same for JSON text, which stays valid. */
  redactJson(json: string): string {
    const authored = this.#withoutAuthored(json);
    const redacted = this.#withoutNames(this.#withoutPrints(authored, true));
    if (redacted === authored) return redacted;
    const before = fromJson<unknown>(authored);
    // The copy may not have been inside a string, but e.g. in a number.
    const after = isJson(redacted) ? fromJson(redacted) : mapStrings(before, (text) => this.redact(text), true);
    return toJson(keepStructure(before, after));
  }

  #withoutPrints(text: string, isJson: boolean): string {
    if (this.#prints.size === 0) return text;
    const words = wordsOf(text);
    let result = '';
    let done = 0;
    let from = -1;
    let until = -1;
    const flush = (): void => {
      if (until < 0) return;
      result += `${text.slice(done, from)}${ERASED}`;
      done = until;
    };
    for (const [at, word] of words.entries()) {
      // A short number in JSON counts something, such as messages.
      if (isJson && word.isBare && word.text.length < LONG_NUMBER) continue;
      const end = this.#copyFrom(words, at);
      if (end === undefined) continue;
      if (until >= 0 && word.start <= until) until = Math.max(until, end);
      else {
        flush();
        [from, until] = [word.start, end];
      }
    }
    flush();
    return done === 0 ? text : result + text.slice(done);
  }

  /** Where the longest copy ends that begins at this word. */
  #copyFrom(words: readonly Word[], at: number): number | undefined {
    let end: number | undefined;
    for (let length = 1; length <= WINDOW; length++) {
      const print = printAt(words, at, length);
      if (print === undefined) break;
      if (this.#prints.has(print.hash)) end = print.end;
    }
    return end;
  }

  /** What events and cards say of the author is found by the id, however short it is. */
  #withoutAuthored(json: string): string {
    const id = this.#authorId;
    if (id === undefined || !json.includes(id)) return json;
    const erased = toJson(eraseAuthored(fromJson(json), id));
    return erased === json ? json : erased;
  }
}

export interface CopiesOptions {
  readonly prints?: Iterable<number>;
  /** Names of the person. Each is replaced where it stands as a whole, if it has two words or eight characters. */
  readonly names?: readonly string[];
  /** The id of the person. */
  readonly authorId?: string | undefined;
}

const WINDOW = 6;
const WINDOW_CHARACTERS = 24;
const SHORT_CHARACTERS = 20;
const LONG_NUMBER = 7;

interface Word {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly hash: number;
  /** Words of different segments are never neighbours: a quotation mark is between them. */
  readonly segment: number;
  /** True if only a hyphen, a dot or the like is between it and the word before. */
  readonly isGlued: boolean;
  /** True if it is outside of quotation marks. */
  readonly isBare: boolean;
}

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
/** The gateway's own ids have these versions: see new-id.ts. */
const OWN_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[78]/;
/**
 * Escapes of JSON strings, which separate words, quotation marks, which JSON has around strings, and words. A UUID is one word: its first
 * part is the time, which it shares with others.
 */
const TOKENS = new RegExp(`\\\\u[0-9a-f]{4}|\\\\.|"|${UUID}|[\\p{L}\\p{N}][\\p{L}\\p{N}\\p{M}]*`, 'giu');
const GLUE = /^[@._+'’:/-]$/;

function wordsOf(text: string): readonly Word[] {
  const words: Word[] = [];
  let segment = 0;
  let isBare = true;
  for (const { 0: found, index } of text.matchAll(TOKENS)) {
    if (found === '"' || found === '\\"') segment++;
    if (found === '"') isBare = !isBare;
    if (found.startsWith('\\') || found === '"') continue;
    const word = found.toLowerCase();
    const isGlued = GLUE.test(text.slice(words.at(-1)?.end ?? index, index));
    words.push({ text: word, start: index, end: index + found.length, hash: hashOf(word), segment, isGlued, isBare });
  }
  return words;
}

/** How many words are written together from this one on. */
function gluedFrom(words: readonly Word[], at: number): number {
  let count = 1;
  while (count < WINDOW && words[at + count]?.isGlued === true) count++;
  return count;
}

function isTelling(word: string): boolean {
  return word.includes('@') || word.length >= SHORT_CHARACTERS || (word.length >= 5 && /\d/.test(word));
}

function printAt(
  words: readonly Word[],
  at: number,
  length: number,
): { readonly hash: number; readonly end: number; readonly characters: number } | undefined {
  const first = words[at];
  const last = words[at + length - 1];
  if (first === undefined || last === undefined || first.segment !== last.segment) return undefined;
  let [high, low, characters] = [length, 0, 0];
  for (let index = at; index < at + length; index++) {
    const word = words[index] as Word;
    characters += word.text.length;
    high = Math.imul(high ^ (word.hash / 2 ** 21), 0x85ebca6b);
    high ^= high >>> 13;
    low = Math.imul(low ^ (word.hash | 0), 0xc2b2ae35);
    low ^= low >>> 15;
  }
  return { hash: combine(high, low), end: last.end, characters };
}

function hashOf(word: string): number {
  let [high, low] = [0x811c9dc5, 0x9747b28c];
  for (let index = 0; index < word.length; index++) {
    const code = word.charCodeAt(index);
    high = Math.imul(high ^ code, 0x01000193);
    low = Math.imul(low ^ code, 0x5bd1e995) ^ (low >>> 13);
  }
  return combine(high, low);
}

/** A whole number of 53 bits. */
function combine(high: number, low: number): number {
  return (high >>> 0) * 2 ** 21 + (low >>> 11);
}

/** "Ada" alone is the name of many. What the gateway itself wrote about this one is found by the id. */
function isRare(name: string): boolean {
  return name.trim().length >= 8 || /\S\s+\S/.test(name);
}

function wholeWords(name: string): RegExp {
  const escaped = name.trim().replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, 'giu');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A copy of the value with other strings. Numbers are changed too if they are a copy as text. */
export function mapStrings(value: unknown, change: (text: string) => string, withNumbers = false): unknown {
  if (typeof value === 'string') return change(value);
  if (withNumbers && typeof value === 'number') {
    const digits = String(value);
    return digits.length < LONG_NUMBER || change(digits) === digits ? value : null;
  }
  if (Array.isArray(value)) return value.map((one) => mapStrings(one, change, withNumbers));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [change(key), mapStrings(one, change, withNumbers)]),
  );
}

const AUTHORED: ReadonlySet<string> = new Set([
  ...['text', 'content', 'name', 'displayName', 'metadata', 'data', 'answer', 'attachments'],
]);

function eraseAuthored(value: unknown, id: string): unknown {
  if (Array.isArray(value)) return value.map((one) => eraseAuthored(one, id));
  if (typeof value !== 'object' || value === null) return value;
  const { entityId, from } = value as { entityId?: unknown; from?: { entityId?: unknown } | null };
  const isTheirs = entityId === id || from?.entityId === id;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => {
      if (!isTheirs || !AUTHORED.has(key)) return [key, eraseAuthored(one, id)];
      return [key, typeof one === 'string' ? ERASED : Array.isArray(one) ? [] : {}];
    }),
  );
}
