import { wordsOf } from './match-tool.ts';

/** What somebody asked for, and the tool that it is done with. */
export interface Request {
  readonly text: string;
  readonly toolName?: string;
}

/** The words that stand beside the field's own name: "3 nights", "city: Rome", "to Oslo". */
export function wordsBeside(key: string, { text }: Request): readonly string[] {
  return toPlainWords(key).flatMap((word) => {
    const [first = '', ...rest] = word.replace(/(?<=...)s$/, '');
    const field = String.raw`\b[${first.toUpperCase()}${first}]${rest.join('')}s?\b`;
    const before = new RegExp(String.raw`(\d+(?:\.\d+)?) ${field}`, 'u').exec(text);
    const after = new RegExp(String.raw`${field}(?: is|:| =)? (?:"([^"]+)"|(${NAME}|[\w.-]*\d[\w.-]*\b))`, 'u').exec(
      text,
    );
    return [before?.[1], after?.[1], after?.[2]].filter((one) => one !== undefined);
  });
}

/** Everything that can be the value of a text field, best first. A field for prose gets the whole sentence. */
export function wordsFor(key: string, { text, toolName = '' }: Request): readonly string[] {
  if (PROSE.test(key)) return [text];
  const all = (pattern: RegExp): string[] => [...text.matchAll(pattern)].map((match) => match[1] ?? match[0]);
  const known = new Set(wordsOf(toolName));
  const telling = toPlainWords(text).filter((word) => wordsOf(word).some((stem) => !known.has(stem)));
  return [
    ...wordsBeside(key, { text }),
    ...(PLACE.test(key) ? all(new RegExp(String.raw`\b(?:in|at|to|for|near|from|of) (${NAME})`, 'gu')) : []),
    ...all(/"([^"]+)"/gu),
    // The first word of a sentence is written large whatever it is.
    ...all(new RegExp(String.raw`(?<!(?:^|[.!?])\W*)\b${NAME}`, 'gu')),
    ...all(/[\w-]*\d[\w-]*/gu),
    ...telling,
  ];
}

const NAME = String.raw`\p{Lu}\p{L}[\p{L}'’-]*(?: \p{Lu}\p{L}[\p{L}'’-]*)*`;
const PROSE =
  /message|text|question|query|prompt|body|content|note|comment|description|reason|instruction|summary|title/i;
const PLACE = /city|town|location|place|destination|where|region|country|address/i;

/** `checkInDate` → `check`, `in`, `date`. */
function toPlainWords(text: string): readonly string[] {
  const spaced = text.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').toLowerCase();
  return spaced.split(/[^\p{L}]+/u).filter((word) => word !== '');
}
