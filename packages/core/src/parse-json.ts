/**
 * Parses JSON text, as `JSON.parse` should. V8 12.8 to 14.6 (Node 24 and 26) may misread a name that contains an escape: once an
 * object had a name with a backslash, `{"a":1,"\n":2}` may come back as `{"a":1,"\\":2}` (nodejs/node issue 63785). A caller could
 * bring this about for every other caller of the process, so texts of callers and models are parsed here.
 *
 * 1. The value is what the JSON standard says, and invalid text throws the SyntaxError of `JSON.parse`.
 * 2. A text without a backslash takes as long as with `JSON.parse`, one with escapes in its values at most twice as long, and one with an escape in
 *    a name longer. The time always grows only with the length of the text.
 */
export function parseJson(text: string): unknown {
  const names = escapedNames(text);
  // It also throws if the text is not JSON.
  const value: unknown = JSON.parse(text);
  return names.length === 0 ? value : withNames(text, names);
}

/** Where a name stands in the text, with its quotation marks. */
interface Place {
  readonly start: number;
  readonly end: number;
}

/** The places of all names that contain an escape. In JSON, a backslash stands only in a string. */
function escapedNames(text: string): Place[] {
  const found: Place[] = [];
  for (let first = text.indexOf('\\'); first !== -1; ) {
    const end = endOfString(text, first);
    if (isName(text, end)) found.push({ start: text.lastIndexOf('"', first), end });
    first = text.indexOf('\\', end);
  }
  return found;
}

/** The position after the string that has an escape at `first`. */
function endOfString(text: string, first: number): number {
  STRING_PART.lastIndex = first;
  while (STRING_PART.lastIndex < text.length) if (STRING_PART.exec(text)?.[1] === '"') return STRING_PART.lastIndex;
  return text.length;
}

/**
 * Up to 1,000 escapes and what is around them: for more, a regular expression would need too much memory. It always matches at least one
 * character: in text that is not JSON, a backslash may be the last one.
 */
const STRING_PART = /(?:[^"\\]*\\.?){0,1000}[^"\\]*("?)/sy;

/** True if a colon follows. */
function isName(text: string, end: number): boolean {
  let at = end;
  while (' \n\r\t'.includes(text[at] ?? ':')) at += 1;
  return text[at] === ':';
}

/**
 * Parses the text with these names written without escapes, and then puts those back that cannot be: they have stand-ins. Equal names stay
 * equal, so `JSON.parse` decides which of several fields of one name counts.
 */
function withNames(text: string, places: readonly Place[]): unknown {
  const mark = unusedIn(text);
  const standIns = new Map<string, string>();
  const parts: string[] = [];
  let from = 0;
  for (const { start, end } of places) {
    const name = JSON.parse(text.slice(start, end)) as string;
    const isKept = !NEEDS_ESCAPE.test(name) && !name.includes(mark);
    if (!isKept && !standIns.has(name)) standIns.set(name, `${mark}${standIns.size}`);
    parts.push(text.slice(from, start), '"', standIns.get(name) ?? name, '"');
    from = end;
  }
  const value: unknown = JSON.parse(parts.join('') + text.slice(from));
  if (standIns.size > 0) putBack(value, new Map([...standIns].map(([name, standIn]) => [standIn, name])));
  return value;
}

/** A quotation mark, a backslash or what comes before the space: control characters. */
const NEEDS_ESCAPE = /["\\]|[^ -\uffff]/;

/** A short word that the text does not contain. It is found in one pass, because callers may choose the text. */
function unusedIn(text: string): string {
  const used = new Set(Array.from(text.matchAll(/name(\d+)x/g), ([, number]) => number));
  let number = 0;
  while (used.has(String(number))) number += 1;
  return `name${number}x`;
}

function putBack(root: unknown, names: ReadonlyMap<string, string>): void {
  const open: unknown[] = [root];
  while (open.length > 0) {
    const one = open.pop();
    if (typeof one !== 'object' || one === null) continue;
    const fields = Object.entries(one);
    for (const [, field] of fields) open.push(field);
    if (!Array.isArray(one) && fields.some(([name]) => names.has(name))) rename(one, fields, names);
  }
}

/** Sets all fields again, so that they keep their order. */
function rename(object: object, fields: readonly [string, unknown][], names: ReadonlyMap<string, string>): void {
  const record = object as Record<string, unknown>;
  for (const [name] of fields) delete record[name];
  for (const [name, field] of fields) setField(record, names.get(name) ?? name, field);
}

/** Sets a field as JSON.parse does: an assignment would not make `__proto__` a field like any other. */
export function setField(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}
