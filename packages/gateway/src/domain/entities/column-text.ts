import { invalid, tooLarge } from './invalid.ts';

/**
 * Text for a column of its own, which holds less than JSON text does: PostgreSQL refuses U+0000, and half a surrogate pair would
 * come back as another character.
 */
export function plainText(value: string, path: string, { min = 0, max }: { min?: number; max: number }): string {
  if (value.length > max) throw tooLarge(path, { limit: max, came: value.length, unit: 'characters' });
  if (value.trim().length < min) throw invalid(path, 'must not be empty.');
  if (!value.isWellFormed() || value.includes('\0'))
    throw invalid(path, 'must not contain U+0000 or unpaired surrogates.');
  return value;
}

/** What a model wrote where a name belongs, as a column of its own can hold it: for people to read, the transcript has it whole. */
export function asPlainText(value: string, max: number): string {
  return value.slice(0, max).toWellFormed().replaceAll('\0', '\ufffd');
}

/** Whether there can be something of that id at all: the databases disagree on what to do with other texts. */
export function isId(id: string): boolean {
  return id.length > 0 && id.length <= LONGEST_ID && id.isWellFormed() && !id.includes('\0');
}

const LONGEST_ID = 500;
