import { StoreMisuse } from '../store-error.ts';

/** A value as PostgreSQL reads it: text, or null. */
export function toPostgresText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) return `{${value.map(toElement).join()}}`;
  return toText(value);
}

function toElement(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  const text = toText(value);
  if (typeof value !== 'string') return text;
  return DIFFERS_IN_JSON.test(text) ? `"${text.replace(SPECIAL, '\\$&')}"` : JSON.stringify(text);
}

const SPECIAL = /["\\]/g;
/**
 * PostgreSQL and JSON both write a backslash before quotes and backslashes. JSON also escapes control characters and halves of emoji. Without
 * them JSON.stringify takes a third of the time, and a message of an agent has about a hundred elements.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are looked for.
const DIFFERS_IN_JSON = /[\u0000-\u001f\ud800-\udfff]/u;

function toText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  throw new StoreMisuse('A value is not a text, number, boolean or list of these: use toJson.');
}
