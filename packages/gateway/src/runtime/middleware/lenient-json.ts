/**
 * The value of a text that is almost JSON. `cut-off` if the text ends before it is complete, `malformed` for anything
 * else. A missing end is never added: `{"amount":12` may have been meant to be 1200.
 */
export type LenientJson = { readonly value: unknown } | { readonly problem: 'cut-off' | 'malformed' };

/**
 * Reads JSON with the mistakes that models make: single quotes, keys without quotes, trailing commas, comments, line breaks inside
 * texts, Python's `True`, `False` and `None`, a Markdown fence around it, and JSON inside a JSON text.
 */
export function readLenientJson(text: string): LenientJson {
  const read = new Reader(withoutFence(text.trim())).read();
  return 'value' in read && typeof read.value === 'string' ? new Reader(read.value).read() : read;
}

/**
 * Does not use a regular expression: one that looks for both ends of a fence takes minutes on a long text of spaces.
 */
function withoutFence(text: string): string {
  const start = text.indexOf('\n');
  return text.startsWith(FENCE) && text.endsWith(FENCE) && start !== -1 && start < text.length - FENCE.length
    ? text.slice(start, -FENCE.length)
    : text;
}

const FENCE = '```';

/** Thrown and caught inside the reader only. */
class Stop extends Error {
  readonly problem: 'cut-off' | 'malformed';

  constructor(problem: Stop['problem']) {
    super(problem);
    this.problem = problem;
  }
}

const DEEPEST = 100;
const SPACE = /(?:\s+|\/\/[^\n]*|\/\*.*?\*\/)*/sy;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /[A-Za-z_$][\w$]*/y;
const CHARACTERS = /[^"'\\]+/y;
const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['null', null],
  ['None', null],
]);
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): LenientJson {
    try {
      const value = this.#value(0);
      this.#take(SPACE);
      return this.#at === this.#text.length ? { value } : { problem: 'malformed' };
    } catch (error) {
      if (error instanceof Stop) return { problem: error.problem };
      throw error;
    }
  }

  #value(depth: number): unknown {
    if (depth > DEEPEST) throw new Stop('malformed');
    const first = this.#next();
    if (first === '{') return this.#object(depth);
    if (first === '[') return this.#list(depth);
    if (first === '"' || first === "'") return this.#string(first);
    const number = this.#take(NUMBER);
    if (number !== '') return Number(number);
    const word = this.#take(WORD);
    if (!WORDS.has(word)) throw new Stop(this.#at === this.#text.length ? 'cut-off' : 'malformed');
    return WORDS.get(word);
  }

  #object(depth: number): object {
    const fields: [string, unknown][] = [];
    this.#items('}', () => {
      const quote = this.#next();
      const key = quote === '"' || quote === "'" ? this.#string(quote) : this.#take(WORD);
      if (this.#next() !== ':' || key === undefined) throw new Stop('malformed');
      this.#at += 1;
      fields.push([key, this.#value(depth + 1)]);
    });
    return Object.fromEntries(fields);
  }

  #list(depth: number): unknown[] {
    const values: unknown[] = [];
    this.#items(']', () => void values.push(this.#value(depth + 1)));
    return values;
  }

  /** Reads items between commas. A trailing comma is allowed. */
  #items(end: string, readItem: () => void): void {
    this.#at += 1;
    while (this.#next() !== end) {
      readItem();
      const after = this.#next();
      if (after === ',') this.#at += 1;
      else if (after !== end) throw new Stop('malformed');
    }
    this.#at += 1;
  }

  #string(quote: string): string {
    this.#at += 1;
    let text = '';
    for (;;) {
      text += this.#take(CHARACTERS);
      const next = this.#text[this.#at];
      if (next === undefined) throw new Stop('cut-off');
      this.#at += 1;
      if (next === quote) return text;
      text += next === '\\' ? this.#escape() : next;
    }
  }

  #escape(): string {
    const escaped = this.#text[this.#at];
    if (escaped === undefined) throw new Stop('cut-off');
    this.#at += 1;
    if (escaped !== 'u') return ESCAPES[escaped] ?? escaped;
    const digits = this.#text.slice(this.#at, this.#at + 4);
    if (!/^[0-9a-fA-F]{4}$/.test(digits))
      throw new Stop(this.#at + digits.length === this.#text.length ? 'cut-off' : 'malformed');
    this.#at += 4;
    return String.fromCharCode(Number.parseInt(digits, 16));
  }

  /** The next character that is neither white space nor part of a comment, or an empty text at the end. */
  #next(): string {
    this.#take(SPACE);
    const next = this.#text[this.#at];
    if (next === undefined) throw new Stop('cut-off');
    return next;
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [taken = ''] = pattern.exec(this.#text) ?? [];
    this.#at += taken.length;
    return taken;
  }
}
