import { invalid, tooLarge } from './invalid.ts';

/**
 * Checks a text that is stored in a separate column, which accepts less than JSON does: PostgreSQL refuses U+0000, and an
 * unpaired surrogate would come back as another character.
 */
export function plainText(value: string, path: string, { min = 0, max }: { min?: number; max: number }): string {
  if (value.length > max) throw tooLarge(path, { limit: max, came: value.length, unit: 'characters' });
  if (value.trim().length < min) throw invalid(path, 'must not be empty.');
  if (!value.isWellFormed() || value.includes('\0'))
    throw invalid(path, 'must not contain U+0000 or unpaired surrogates.');
  return value;
}

/** Makes a name that a model wrote fit into a column, for people to read. The transcript has the original. */
export function asPlainText(value: string, max: number): string {
  return value.slice(0, max).toWellFormed().replaceAll('\0', '\ufffd');
}

/** True if the text can be an id at all. For other texts the databases behave differently. */
export function isId(id: string): boolean {
  return id.length > 0 && id.length <= MAX_ID_LENGTH && id.isWellFormed() && !id.includes('\0');
}

const MAX_ID_LENGTH = 500;
