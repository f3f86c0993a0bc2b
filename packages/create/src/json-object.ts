/** A member of an object in a JSON text, and where its value is. */
interface Member {
  readonly key: string;
  readonly start: number;
  readonly end: number;
}

interface Edit {
  /** The keys that lead to the object. The object is created if it does not exist. */
  readonly path: readonly string[];
  readonly key: string;
  readonly value: unknown;
}

/**
 * Adds a member at the end of an object in a JSON text and leaves every other character as it is. Parsing and printing
 * the text would change the form of lists, spaces and escapes. The text must be an object, and the path must lead to
 * objects.
 */
export function addMember(
  text: string,
  { path: [first, ...rest], key, value }: Edit,
  start: number = text.indexOf('{'),
): string {
  const members = membersOf(text, start);
  if (first === undefined) return insert(text, start, members, `${JSON.stringify(key)}: ${print(text, value)}`);
  const next = members.findLast((member) => member.key === first);
  if (next !== undefined) return addMember(text, { path: rest, key, value }, next.start);
  const made = [...rest].reverse().reduce<object>((inner, name) => ({ [name]: inner }), { [key]: value });
  return insert(text, start, members, `${JSON.stringify(first)}: ${print(text, made)}`);
}

function insert(text: string, start: number, members: readonly Member[], member: string): string {
  const last = members.at(-1);
  const end = endOf(text, start) - 1;
  const isOneLine = last !== undefined && !text.slice(start, end).includes('\n');
  if (isOneLine) return `${text.slice(0, last.end)}, ${member}${text.slice(last.end)}`;
  const outer = /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', start) + 1))?.[0] ?? '';
  const newline = newlineOf(text);
  const line = newline + outer + indentOf(text) + member.replaceAll('\n', newline + outer + indentOf(text));
  if (last === undefined) return `${text.slice(0, start + 1)}${line}${newline}${outer}${text.slice(end)}`;
  return `${text.slice(0, last.end)},${line}${text.slice(last.end)}`;
}

function print(text: string, value: unknown): string {
  return JSON.stringify(value, undefined, indentOf(text));
}

/** The indentation of the first member of the text. */
function indentOf(text: string): string {
  return /^\s*\{\r?\n([ \t]+)/.exec(text)?.[1] ?? '  ';
}

export function newlineOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

function membersOf(text: string, start: number): readonly Member[] {
  const members: Member[] = [];
  const end = endOf(text, start) - 1;
  for (let at = skip(text, start + 1); at < end; ) {
    const colon = skip(text, endOf(text, at));
    const value = skip(text, colon + 1);
    const valueEnd = endOf(text, value);
    members.push({ key: JSON.parse(text.slice(at, endOf(text, at))) as string, start: value, end: valueEnd });
    // Skips the comma.
    at = skip(text, skip(text, valueEnd) + 1);
  }
  return members;
}

/** The index of the next character that is not white space. */
function skip(text: string, at: number): number {
  const space = /\s*/y;
  space.lastIndex = at;
  space.exec(text);
  return space.lastIndex;
}

/** The index at which the value that starts here ends. */
function endOf(text: string, start: number): number {
  const token = /"(?:[^"\\]|\\.)*"|[{[]|[}\]]|[^\s{}[\]",:]+/g;
  token.lastIndex = start;
  for (let depth = 0; ; ) {
    const [found] = token.exec(text) ?? [];
    if (found === undefined) return text.length;
    if (/^[{[]/.test(found)) depth++;
    else if (/^[}\]]/.test(found)) depth--;
    if (depth === 0) return token.lastIndex;
  }
}
