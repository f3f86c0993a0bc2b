import { errorText } from '../results/describe-error.ts';
import { isTooDeep } from './nesting.ts';

/** The arguments as parsed JSON, before any schema is applied. */
export type ReadArguments = { readonly value: unknown } | { readonly problem: string };

export function readArguments(written: unknown): ReadArguments {
  if (written === undefined || written === null) return { value: {} };
  if (typeof written !== 'string') return isObject(written) ? { value: written } : { problem: notAnObject(written) };
  if (written.trim() === '') return { value: {} };
  try {
    const value: unknown = JSON.parse(written);
    if (isTooDeep(value, written)) return { problem: 'The arguments are nested too deeply.' };
    return isObject(value) ? { value } : { problem: notAnObject(value) };
  } catch (error) {
    return { problem: `The arguments are not JSON: ${errorText(error)}` };
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function notAnObject(value: unknown): string {
  const what = value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;
  return `The arguments must be a JSON object, not ${what}.`;
}
