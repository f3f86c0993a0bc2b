import { StoreMisuse } from './store-error.ts';

/** A value as PostgreSQL reads it: text, or null. */
export function toPostgresText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) return `{${value.map(toElement).join()}}`;
  return toText(value);
}

function toElement(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  return `"${toText(value).replace(/["\\]/g, '\\$&')}"`;
}

function toText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  throw new StoreMisuse('A value is no text, number, boolean or list of these: use toJson.');
}
