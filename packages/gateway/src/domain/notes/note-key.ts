import { z } from 'zod';
import { ApiError } from '../api-error.ts';

/** One line of text that every database can hold, and that breaks no line of a prompt. */
export const lineSchema = (most: number): z.ZodType<string> =>
  z
    .string()
    .trim()
    .min(1)
    .max(most)
    .regex(/^[^\p{Cc}\p{Cs}\u2028\u2029]*$/u, { error: 'must not contain line breaks or other control characters.' });

/** What a goal, a memory or a plan is called by: unique for its agent. */
export const noteKeySchema: z.ZodType<string> = lineSchema(100);

/** Those to be deleted. */
export const noteKeysSchema: z.ZodType<{ keys: string[] }> = z.strictObject({
  keys: z.array(noteKeySchema).min(1).max(1_000),
});

// Enough for three or four words.
const MADE_KEY = 32;

/**
 * Gives each note its key: its own, or one made of the first words of its text, so that the model recognises it. Made keys
 * are never those of other notes, old or new.
 */
export function withKeys<T extends { readonly key?: string | undefined }>(
  notes: readonly T[],
  taken: ReadonlySet<string>,
  textOf: (note: T) => string,
): (T & { readonly key: string })[] {
  const given = notes.flatMap(({ key }) => (key === undefined ? [] : [key]));
  assertOnce(given);
  const used = new Set([...taken, ...given]);
  return notes.map((note) => {
    const key = note.key ?? freeKey(wordsOf(textOf(note)), used);
    used.add(key);
    return { ...note, key };
  });
}

/** Which of the two was meant, nobody could say. */
function assertOnce(keys: readonly string[]): void {
  const twice = keys.find((key, index) => keys.indexOf(key) < index);
  if (twice === undefined) return;
  throw new ApiError(422, 'repeated_key', `The key "${twice}" is given twice in one call. Give each once.`, {
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
    if (longer.length > MADE_KEY) break;
    key = longer;
  }
  // A first word that is too long alone is cut, and never within a character.
  return key === '' ? [...(words[0] ?? '')].slice(0, MADE_KEY / 2).join('') : key;
}

function freeKey(words: string, used: ReadonlySet<string>): string {
  const base = words === '' ? 'note' : words;
  for (let count = 1; ; count++) {
    const key = count === 1 ? base : `${base}-${count}`;
    if (!used.has(key)) return key;
  }
}
