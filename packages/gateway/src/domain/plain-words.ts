/*
 * Texts of others inside lines that the gateway writes for a model. A line of ours begins at the left edge. What others wrote cannot
 * begin a line there, end one early, or open or close a frame:
 *
 * 1. A name is one line. If it holds anything but letters, digits and a few marks, it is quoted as JSON.
 * 2. The further lines of a text are indented by two spaces, whatever kind of line break it has.
 * 3. "<" in front of the name of a frame is escaped. The closing tag of a frame is no secret, so this has to find every spelling that
 *    a model could take for one: with spaces, invisible characters or a wide "<".
 */

/** A name in a line: plain if it can be nothing but a name, otherwise a JSON string. */
export function nameInWords(name: string): string {
  return PLAIN_NAME.test(name) && !name.endsWith(' ') ? name : quoted(name);
}

// No punctuation that ends a name in a line of ours: colon, comma, parenthesis, quotation mark.
const PLAIN_NAME = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} .'’&_-]{0,99}$/u;

/** A JSON value in a line: texts as they are, everything else as JSON. */
export function valueInWords(value: unknown, depth = 1): string {
  return typeof value === 'string' ? textInWords(value, depth) : jsonInWords(value);
}

export function jsonInWords(value: unknown): string {
  return (JSON.stringify(value) ?? 'null').replace(LINE_BREAK_OR_CONTROL, escaped).replace(FRAME_NAME, escaped);
}

/** A text that begins within a line. Its further lines are indented, by `depth` times two spaces: deeper than the line that it begins in. */
export function textInWords(text: string, depth = 1): string {
  return text
    .replace(LINE_BREAK, '\n')
    .replace(CONTROL, escaped)
    .replace(FRAME_NAME, escaped)
    .replaceAll('\n', `\n${INDENT.repeat(depth)}`);
}

/** The text of lines without the indentation: see `textInWords`. */
export function withoutIndent(lines: readonly string[]): string {
  return lines.map((line, index) => (index === 0 ? line : line.slice(INDENT.length))).join('\n');
}

export function isIndented(line: string): boolean {
  return line.startsWith(INDENT);
}

/** A time to the minute. Seconds would cost tokens, and say nothing to a model. */
export function timeInWords(ms: number): string {
  const time = new Date(ms);
  return Number.isNaN(time.getTime()) ? 'an unknown time' : time.toISOString().slice(0, 16).replace('T', ' ');
}

const INDENT = '  ';
const LINE_BREAK = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is for.
const CONTROL = /[\u0000-\u0008\u000e-\u001f\u007f-\u009f]/g;
const LINE_BREAK_OR_CONTROL = new RegExp(`${LINE_BREAK.source}|${CONTROL.source}`, 'g');
// Invisible characters may stand anywhere in a tag. Some of them count as letters.
const INVISIBLE = '[\\p{Cf}\\p{Default_Ignorable_Code_Point}]';
const FRAME_NAMES = ['inbox', 'situation', 'summary', 'caller', 'transcript'].map((name) =>
  [...name].join(`${INVISIBLE}*`),
);
// One class, and no choice of two: U+FEFF is a space and invisible, so each one would double the time.
const BEFORE_NAME = '[\\s/\uff0f\\p{Cf}\\p{Default_Ignorable_Code_Point}]';
const FRAME_NAME = new RegExp(
  `[<\uff1c\ufe64](?=${BEFORE_NAME}*(?:${FRAME_NAMES.join('|')})(?:${INVISIBLE}|(?![\\p{L}\\p{N}_])))`,
  'giu',
);

function quoted(name: string): string {
  return jsonInWords(name);
}

function escaped(characters: string): string {
  return [...characters].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
}
