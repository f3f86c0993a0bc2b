import { z } from 'zod';
import { ApiError } from '../api-error.ts';

/** One line of text that every database can store and that does not break a line of a prompt. */
export const lineSchema = (max: number): z.ZodType<string> =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    .regex(/^[^\p{Cc}\p{Cs}\u2028\u2029]*$/u, { error: 'must not contain line breaks or other control characters.' });

/** The key of a goal, a memory or a plan. It is unique for its agent. */
export const noteKeySchema: z.ZodType<string> = lineSchema(100);

/** The keys to delete. */
export const noteKeysSchema: z.ZodType<{ keys: string[] }> = z.strictObject({
  keys: z.array(noteKeySchema).min(1).max(1_000),
});

// Enough for three or four words.
const MADE_KEY_LENGTH = 32;

/**
 * Gives each note a key: its own, or one made of the first words of its text, so that the model recognises it. A generated key
 * never equals that of another note, old or new.
 */
export function withKeys<T extends { readonly key?: string | undefined }>(
  notes: readonly T[],
  taken: ReadonlySet<string>,
  textOf: (note: T) => string,
): (T & { readonly key: string })[] {
  const ownKeys = notes.flatMap(({ key }) => (key === undefined ? [] : [key]));
  assertUnique(ownKeys);
  const used = new Set([...taken, ...ownKeys]);
  return notes.map((note) => {
    const key = note.key ?? freeKey(wordsOf(textOf(note)), used);
    used.add(key);
    return { ...note, key };
  });
}

/** A repeated key is refused, because it would be unclear which note is meant. */
function assertUnique(keys: readonly string[]): void {
  const twice = keys.find((key, index) => keys.indexOf(key) < index);
  if (twice === undefined) return;
  throw new ApiError('repeated_key', `The key "${twice}" is given twice in one call. Use each key once.`, {
    details: { key: twice },
  });
}

function wordsOf(text: string): string {
  const words =
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  let key = '';
  for (const word of words) {
    const longer = key === '' ? word : `${key}-${word}`;
    if (longer.length > MADE_KEY_LENGTH) break;
    key = longer;
  }
  // A first word that is too long is cut between characters.
  return key === '' ? [...(words[0] ?? '')].slice(0, MADE_KEY_LENGTH / 2).join('') : key;
}

function freeKey(words: string, used: ReadonlySet<string>): string {
  const base = words === '' ? 'note' : words;
  for (let count = 1; ; count++) {
    const key = count === 1 ? base : `${base}-${count}`;
    if (!used.has(key)) return key;
  }
}
