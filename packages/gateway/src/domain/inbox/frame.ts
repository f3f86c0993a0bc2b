import { tagPattern } from '../../telemetry/hide-tag.ts';

/**
 * JSON, one value a line, between tags that carry an id which no outsider knows. No content can imitate a line or a tag, also when
 * it knows the id: a value contains no line break, no "<" and not the id, because all three are written as escapes.
 */
export interface Frame {
  /** What it holds, e.g. `inbox`. */
  readonly name: string;
  readonly tag: string;
  readonly attributes?: Readonly<Record<string, string | number>>;
  readonly lines: readonly unknown[];
}

export function renderFrame({ name, tag, attributes = {}, lines }: Frame): string {
  const said = Object.entries(attributes).map(([key, value]) => ` ${key}="${value}"`);
  return [`<${name}-${tag}${said.join('')}>`, ...lines.map((line) => renderLine(line, tag)), `</${name}-${tag}>`].join(
    '\n',
  );
}

/** What `renderFrame` made of it, or undefined where the text is not exactly that: a frame inside other text is none. */
export function parseFrame(text: string, name: string, tag: string): Frame | undefined {
  const [first = '', ...rest] = text.split('\n');
  const opening = `<${name}-${tag}`;
  if (!first.startsWith(opening) || !/^( [a-z]+="[^"<>]*")*>$/.test(first.slice(opening.length))) return undefined;
  if (rest.pop() !== `</${name}-${tag}>`) return undefined;
  const attributes = Object.fromEntries(
    [...first.matchAll(/ ([a-z]+)="([^"]*)"/g)].map(([, key, value]) => [key, value]),
  );
  const lines = parseLines(rest);
  return lines === undefined ? undefined : { name, tag, attributes, lines };
}

/** The same for a text that is known to be of our making, whatever it holds. */
export function parseAnyFrame(text: string): Frame | undefined {
  const [, name, tag] = /^<([a-z]+)-([0-9a-z]+)[ >]/i.exec(text) ?? [];
  return name === undefined || tag === undefined ? undefined : parseFrame(text, name, tag);
}

/** Undefined where one is no JSON, e.g. because the text was clipped. */
function parseLines(lines: readonly string[]): unknown[] | undefined {
  try {
    return lines.map((line): unknown => JSON.parse(line));
  } catch {
    return undefined;
  }
}

function renderLine(value: unknown, tag: string): string {
  return JSON.stringify(value).replace(IMITATORS, escapeCharacter).replace(tagPattern(tag), escapeEnd);
}

/** Its last character, which is far enough behind any escape before it to be no part of one. */
function escapeEnd(tag: string): string {
  return `${tag.slice(0, -1)}${escapeCharacter(tag.slice(-1))}`;
}

// "<" would open a tag; the others are line breaks to some readers, and JSON leaves them as they are.
const IMITATORS = /[<\u0085\u2028\u2029]/g;

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
