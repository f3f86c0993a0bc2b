/** Reads one string out of JSON that is still being written. */
export interface TextField {
  /**
   * Takes the next fragment of the JSON, which may be cut anywhere. Returns what it adds to the string, in complete
   * characters.
   */
  push(fragment: string): string;
  /** True if the string that was returned equals the one in the complete JSON. */
  end(finalText: unknown): boolean;
}

/**
 * Creates a reader of the top-level string field `field`. What it returns adds up to `JSON.parse(json)[field]`, with
 * two exceptions, which `end` reports: if the key occurs twice, the first value is returned although the last one
 * counts; and if the JSON is malformed, the reader stops there.
 */
export function createTextField(field: string): TextField {
  return new TextFieldReader(field);
}

type Expected = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end' | 'nothing';

type Token = { readonly kind: 'none' | 'given' | 'skipped' } | { readonly kind: 'key' | 'literal'; text: string };

const NONE: Token = { kind: 'none' };

class TextFieldReader implements TextField {
  readonly #field: string;
  readonly #open: ('{' | '[')[] = [];
  #expected: Expected | 'broken' = 'value';
  #token: Token = NONE;
  /** The last key that was read. At the start of a value of the top-level object, it is that value's key. */
  #key = '';
  /** The part of an escape sequence that was read so far, from its backslash on. */
  #escape = '';
  /** The first half of a surrogate pair, held back until the second half comes. */
  #half = '';
  #isGiven = false;
  #given = '';

  constructor(field: string) {
    this.#field = field;
  }

  push(fragment: string): string {
    let added = '';
    for (let at = 0; at < fragment.length && this.#expected !== 'broken'; at++)
      added += this.#take(fragment.charAt(at));
    this.#given += added;
    return added;
  }

  end(finalText: unknown): boolean {
    return this.#given === finalText;
  }

  #take(character: string): string {
    if (this.#token.kind === 'literal') {
      if (/[-+.\w]/.test(character)) {
        this.#token.text += character;
        return '';
      }
      this.#endValue(LITERAL.test(this.#token.text));
    }
    if (this.#token.kind !== 'none') return this.#takeInString(character);
    if (!/[ \t\n\r]/.test(character)) this.#takeBetween(character);
    return '';
  }

  #takeBetween(character: string): void {
    const expected = this.#expected;
    if (character === '}' || character === ']') this.#close(character);
    else if (expected === 'value' || expected === 'value-or-end') this.#startValue(character);
    else if (character === '"' && (expected === 'key' || expected === 'key-or-end'))
      this.#token = { kind: 'key', text: '' };
    else if (character === ':' && expected === 'colon') this.#expected = 'value';
    else if (character === ',' && expected === 'comma-or-end')
      this.#expected = this.#open.at(-1) === '{' ? 'key' : 'value';
    else this.#break();
  }

  #startValue(character: string): void {
    if (character === '{' || character === '[') {
      this.#open.push(character);
      this.#expected = character === '{' ? 'key-or-end' : 'value-or-end';
    } else if (character === '"') this.#token = { kind: this.#startsText() ? 'given' : 'skipped' };
    else if (/[-\w]/.test(character)) this.#token = { kind: 'literal', text: character };
    else this.#break();
  }

  /**
   * True if the string that starts here is the wanted one. Only the first counts, because text that was returned cannot
   * be taken back.
   */
  #startsText(): boolean {
    const isField = this.#open.length === 1 && this.#open[0] === '{' && this.#key === this.#field;
    if (!isField || this.#isGiven) return false;
    this.#isGiven = true;
    return true;
  }

  #close(bracket: '}' | ']'): void {
    const [opening, orEnd] = bracket === '}' ? (['{', 'key-or-end'] as const) : (['[', 'value-or-end'] as const);
    const mayEnd = this.#expected === orEnd || this.#expected === 'comma-or-end';
    this.#endValue(mayEnd && this.#open.pop() === opening);
  }

  #takeInString(character: string): string {
    if (this.#escape !== '') return this.#takeEscaped(character);
    if (character === '\\') {
      this.#escape = character;
      return '';
    }
    if (character === '"') return this.#endString();
    if (character < ' ') return this.#break();
    return this.#addUnit(character);
  }

  #takeEscaped(character: string): string {
    this.#escape += character;
    if (this.#escape.startsWith('\\u')) {
      if (!/^\\u[\dA-Fa-f]{0,4}$/.test(this.#escape)) return this.#break();
      return this.#escape.length < 6
        ? ''
        : this.#addUnit(String.fromCharCode(Number.parseInt(this.#escape.slice(2), 16)));
    }
    const meant = ESCAPED.get(character);
    return meant === undefined ? this.#break() : this.#addUnit(meant);
  }

  #addUnit(unit: string): string {
    this.#escape = '';
    if (this.#token.kind === 'key') this.#token.text += unit;
    if (this.#token.kind !== 'given') return '';
    const before = this.#half;
    this.#half = '';
    if (!/[\ud800-\udbff]/.test(unit)) return before + unit;
    this.#half = unit;
    return before;
  }

  #endString(): string {
    const token = this.#token;
    if (token.kind === 'key') {
      this.#token = NONE;
      this.#expected = 'colon';
      this.#key = token.text;
      return '';
    }
    this.#endValue(true);
    // JSON.parse also returns a lone surrogate.
    const alone = this.#half;
    this.#half = '';
    return alone;
  }

  #endValue(isSound: boolean): void {
    this.#token = NONE;
    this.#expected = this.#open.length === 0 ? 'nothing' : 'comma-or-end';
    if (!isSound) this.#break();
  }

  #break(): '' {
    this.#expected = 'broken';
    return '';
  }
}

const LITERAL = /^(true|false|null|-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?)$/;

const ESCAPED: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);
