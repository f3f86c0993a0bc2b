import { parseJson } from '../parse-json.ts';
import { errorText } from '../results/describe-error.ts';
import { inexactNumber } from './inexact-number.ts';

/** The arguments as parsed JSON, before any schema is applied. */
export type ReadArguments = { readonly value: unknown } | { readonly problem: string };

export function readArguments(written: unknown): ReadArguments {
  if (written === undefined || written === null) return { value: {} };
  if (typeof written !== 'string') return isObject(written) ? { value: written } : { problem: notAnObject(written) };
  if (written.trim() === '') return { value: {} };
  try {
    const value: unknown = parseJson(written);
    if (isTooDeep(value, written)) return { problem: 'The arguments are nested too deeply.' };
    if (!isObject(value)) return { problem: notAnObject(value) };
    const inexact = inexactNumber(written);
    return inexact === undefined ? { value } : { problem: tooLarge(inexact) };
  } catch (error) {
    return { problem: `The arguments are not JSON: ${errorText(error)}` };
  }
}

/** A number that is read as another one could name another account. */
function tooLarge(number: string): string {
  const shown = number.length > 40 ? `${number.slice(0, 40)}…` : number;
  return `${shown} is too large a number to be read exactly. Write it as text, in quotation marks.`;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function notAnObject(value: unknown): string {
  const what = value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;
  return `The arguments must be a JSON object, not ${what}.`;
}

// JSON.parse reads any depth; structuredClone, schema walks, providers, and in some engines JSON.stringify overflow the
// stack at some thousands of levels. Deeper arguments could be run but never stored or sent. Real arguments come
// nowhere near this.
const DEEPEST = 1_000;

/** Whether arguments that were read from `text` are nested too deep to be stored. */
function isTooDeep(value: unknown, text: string): boolean {
  // Each level takes at least two characters, so most arguments need no walk.
  if (text.length < 2 * DEEPEST) return false;
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEPEST) return true;
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
  }
  return false;
}
