import { replaceTag } from '../telemetry/hide-tag.ts';

/**
 * JSON values, one per line, between tags that contain an id which outsiders do not know. No content can imitate a line or a tag,
 * even if its author knows the id: a value contains no line break, no "<" and not the id, because all three are escaped.
 */
export interface Frame {
  /** The kind of content, e.g. `inbox`. */
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

/**
 * Parses a text that `renderFrame` wrote. Returns undefined if the text is not exactly that: a frame inside other text does not
 * count.
 */
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

/** Parses a frame of any name and tag. Only for texts that the gateway itself wrote. */
export function parseAnyFrame(text: string): Frame | undefined {
  const [, name, tag] = /^<([a-z]+)-([0-9a-z]+)[ >]/i.exec(text) ?? [];
  return name === undefined || tag === undefined ? undefined : parseFrame(text, name, tag);
}

/** Returns undefined if a line is not JSON, e.g. because the text was clipped. */
function parseLines(lines: readonly string[]): unknown[] | undefined {
  try {
    return lines.map((line): unknown => JSON.parse(line));
  } catch {
    return undefined;
  }
}

function renderLine(value: unknown, tag: string): string {
  return replaceTag(JSON.stringify(value).replace(UNSAFE_CHARACTERS, escapeCharacter), tag, escapeEnd);
}

/** Escapes the last character of the tag. It is far enough from any earlier escape to be no part of one. */
function escapeEnd(tag: string): string {
  return `${tag.slice(0, -1)}${escapeCharacter(tag.slice(-1))}`;
}

// "<" would open a tag. The others are line breaks to some readers, and JSON does not escape them.
const UNSAFE_CHARACTERS = /[<\u0085\u2028\u2029]/g;

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
