/**
 * Matches a secret in every form that a server usually repeats it in: plain, percent-encoded, escaped for JSON or HTML, in any
 * mixture of these; in base64 at any offset, also url-safe or wrapped; in hexadecimal digits.
 */
export function secretPattern(secret: string): RegExp {
  const bytes = new TextEncoder().encode(secret);
  const text = [...secret].map((character, index) => characterForms(character, index === 0 ? ONE : SEVERAL)).join('');
  const forms = [text, ...[0, 1, 2].map((shift) => base64Form(bytes, shift))];
  return new RegExp([...forms, [...bytes].map(hexDigits).join('')].join('|'), 'g');
}

// JSON inside JSON doubles its backslashes. Their number is bounded, and before the first character the last one is
// enough: a text of a million backslashes must not take many steps at each of them.
const ONE = '\\\\';
const SEVERAL = '\\\\{1,7}';
const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '\b': 'b',
  '\f': 'f',
  '\n': 'n',
  '\r': 'r',
  '\t': 't',
  '"': '"',
  '/': '/',
  '\\': '\\\\',
};
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&(?:apos|#39|#x27);',
};

function characterForms(character: string, backslashes: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  const forms = [
    literal(character),
    [...new TextEncoder().encode(character)].map((byte) => `%(?:25){0,3}${hexDigits(byte)}`).join(''),
    units.map((unit) => `${backslashes}u${hexDigits(unit >> 8)}${hexDigits(unit & 0xff)}`).join(''),
  ];
  const short = SHORT_ESCAPES[character];
  if (short !== undefined) forms.push(`${backslashes}${short}`);
  const entity = ENTITIES[character];
  if (entity !== undefined) forms.push(entity);
  // HTML forms encode a space as a plus sign.
  if (character === ' ') forms.push('\\+');
  return `(?:${forms.join('|')})`;
}

/**
 * The digits of base64 that depend on the secret alone, if it begins `shift` bytes after a multiple of three. The digits at
 * the edges also depend on their neighbours and are left out.
 */
function base64Form(bytes: Uint8Array, shift: number): string {
  const encoded = Buffer.concat([new Uint8Array(shift), bytes]).toString('base64');
  const digits = encoded.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
  return [...digits].map((digit) => BASE64_SPECIAL[digit] ?? digit).join('[\\r\\n]{0,2}');
}

const BASE64_SPECIAL: Readonly<Record<string, string>> = {
  '+': '(?:[+-]|%2[bB])',
  '/': `(?:[/_]|${SEVERAL}/|%2[fF])`,
};

function hexDigits(byte: number): string {
  return byte
    .toString(16)
    .padStart(2, '0')
    .replace(/[a-f]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}

function literal(character: string): string {
  return character.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
