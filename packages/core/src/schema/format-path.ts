import type { Steps } from './steps.ts';

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;
/** The maximum length of a shown key. Longer ones are truncated. */
const LONGEST_KEY = 100;

/** `items[2].price`; keys that are not identifiers as `["odd key"]`, and long ones as `["their beginning…"]`. */
export function formatPath(path: readonly PropertyKey[]): string {
  return path.map((key, index) => formatKey(key, index === 0)).join('');
}

/** Takes the steps of listing and formatting these keys. */
export function takePath(path: readonly PropertyKey[], steps: Steps): void {
  for (const key of path) steps.takeText(typeof key === 'string' ? 4 * Math.min(key.length, LONGEST_KEY) : 0);
}

function formatKey(key: PropertyKey, isFirst: boolean): string {
  if (typeof key === 'number') return `[${key}]`;
  const text = shorten(String(key));
  if (!IDENTIFIER.test(text)) return `[${JSON.stringify(text)}]`;
  return isFirst ? text : `.${text}`;
}

function shorten(key: string): string {
  return key.length <= LONGEST_KEY ? key : `${key.slice(0, LONGEST_KEY)}…`;
}
