import { canonicalJson, toJson } from '../../ports/store/schema/json.ts';
import { invalid } from '../entities/invalid.ts';

/**
 * What a field of the input has to be like. Each test that is given must pass. There is no test for the beginning of a text: it would
 * allow `https://shop.example.evil.org` and `/srv/../etc`.
 */
export interface Condition {
  /** A JSON Pointer into the input: `/amount`, `/customer/id`. */
  readonly field: string;
  readonly equals?: unknown;
  readonly oneOf?: readonly unknown[] | undefined;
  /** For numbers. */
  readonly atLeast?: number | undefined;
  readonly atMost?: number | undefined;
}

const MOST_BYTES = 10_000;

/** Throws if the conditions are too long, or name a field twice or in a wrong way. */
export function assertConditions(conditions: readonly Condition[]): void {
  if (Buffer.byteLength(toJson(conditions)) > MOST_BYTES)
    throw invalid('grant.conditions', `must have ${MOST_BYTES} bytes or less. Name fewer fields, or shorter values.`);
  const seen = new Set<string>();
  for (const [index, { field, equals, oneOf, atLeast, atMost }] of conditions.entries()) {
    const path = `grant.conditions[${index}]`;
    if (!/^(?:\/(?:[^~/]|~[01])*)+$/.test(field))
      throw invalid(`${path}.field`, `must be a JSON Pointer such as /amount or /customer/id, not "${field}".`);
    if (seen.has(field)) throw invalid(`${path}.field`, `names "${field}" a second time. Put its tests together.`);
    seen.add(field);
    if ([equals, oneOf, atLeast, atMost].every((test) => test === undefined))
      throw invalid(path, 'must have a test: equals, oneOf, atLeast or atMost.');
  }
}

/** True if the input passes every test. A field that the input does not have passes none. */
export function isCovered(conditions: readonly Condition[], input: unknown): boolean {
  return failedCondition(conditions, input) === undefined;
}

/** The first condition that the input does not meet. */
export function failedCondition(conditions: readonly Condition[], input: unknown): Condition | undefined {
  return conditions.find((condition) => !passes(condition, fieldOf(input, condition.field)));
}

function passes({ equals, oneOf, atLeast, atMost }: Condition, value: unknown): boolean {
  if (value === undefined) return false;
  if (equals !== undefined && !isSame(value, equals)) return false;
  if (oneOf !== undefined && !oneOf.some((one) => isSame(value, one))) return false;
  if (atLeast === undefined && atMost === undefined) return true;
  return typeof value === 'number' && value >= (atLeast ?? -Infinity) && value <= (atMost ?? Infinity);
}

function isSame(one: unknown, other: unknown): boolean {
  return canonicalJson(one) === canonicalJson(other);
}

/** Undefined if there is no such field. */
function fieldOf(input: unknown, pointer: string): unknown {
  let value: unknown = input;
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    // An array has other fields of its own, such as its length, which are not in the JSON.
    if (Array.isArray(value) && !/^(?:0|[1-9]\d*)$/.test(name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}
