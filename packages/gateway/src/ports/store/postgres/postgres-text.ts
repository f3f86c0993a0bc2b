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
  return SPECIAL.test(text) ? `"${withBackslashes(text)}"` : `"${text}"`;
}

const SPECIAL = /["\\]/;
const [QUOTE, BACKSLASH] = [34, 92];

/**
 * Written as a loop, because a regular expression takes twice as long, and a message of an agent has about a hundred
 * elements.
 */
function withBackslashes(text: string): string {
  let escaped = '';
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code !== QUOTE && code !== BACKSLASH) continue;
    escaped += `${text.slice(from, at)}\\`;
    from = at;
  }
  return escaped + text.slice(from);
}

function toText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  throw new StoreMisuse('A value is not a text, number, boolean or list of these: use toJson.');
}
