import type { z } from 'zod';

/** A problem and its path. `message` continues the path: `must be …, not …. Do this.` */
export interface ConfigProblem {
  readonly path: string;
  readonly message: string;
}

export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

/** Parses a value. The messages say what was expected, what came, and where. `base` is the path of the value. */
export function check<T>(schema: z.ZodType<T>, value: unknown, base: readonly PropertyKey[] = []): Checked<T> {
  const result = schema.safeParse(value, { error: explain });
  if (result.success) return { ok: true, value: result.data };
  const found = result.error.issues.flatMap((issue) => problemsOf(issue, base));
  return { ok: false, problems: found.map(({ path, message }) => ({ path: formatPath(path), message })) };
}

/** A problem whose path is still to be continued or formatted. */
export interface ProblemAt {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** What is wrong with a part of a larger value that is checked on its own. */
export function problemsIn(schema: z.ZodType, value: unknown, base: readonly PropertyKey[]): readonly ProblemAt[] {
  const result = checkAt(schema, value, base);
  return result.ok ? [] : result.problems;
}

/** Parses a part of a larger value. */
export function checkAt<T>(
  schema: z.ZodType<T>,
  value: unknown,
  base: readonly PropertyKey[],
): { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problems: readonly ProblemAt[] } {
  const result = schema.safeParse(value, { error: explain });
  if (result.success) return { ok: true, value: result.data };
  return { ok: false, problems: result.error.issues.flatMap((issue) => problemsOf(issue, base)) };
}

/** Formats a path: `['agents', 0, 'odd key']` becomes `agents[0]["odd key"]`. */
export function formatPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    if (!/^[A-Za-z_$][\w$]*$/.test(String(key))) return `${text}[${JSON.stringify(String(key))}]`;
    return text === '' ? String(key) : `${text}.${String(key)}`;
  }, '');
}

function problemsOf(issue: z.core.$ZodIssue, base: readonly PropertyKey[]): readonly ProblemAt[] {
  const path = [...base, ...issue.path];
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ path: [...path, key], message: UNKNOWN_FIELD }));
  if (issue.code === 'invalid_union') {
    const closest = closestAlternative(issue.errors);
    if (closest !== undefined) return closest.flatMap((one) => problemsOf(one, path));
  }
  return [{ path, message: issue.message }];
}

const UNKNOWN_FIELD = 'is unknown. Remove it, or correct its name.';

/**
 * Finds the alternative of a union that comes closest to what the user wrote. Its problems help more than "fits none of the
 * forms".
 */
function closestAlternative(errors: readonly z.core.$ZodIssue[][]): readonly z.core.$ZodIssue[] | undefined {
  const sameType = errors.filter((issues) => !failsAsWhole(issues, ['invalid_type', 'invalid_value']));
  const close =
    sameType.length > 1 ? sameType.filter((issues) => !failsAsWhole(issues, ['unrecognized_keys'])) : sameType;
  return close.length === 1 ? close[0] : undefined;
}

function failsAsWhole(issues: readonly z.core.$ZodIssue[], codes: readonly string[]): boolean {
  return issues.some(({ code, path }) => path.length === 0 && codes.includes(code));
}

/** Returns undefined if the schema's own message, or zod's, is to be used. */
function explain(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.expected === 'nonoptional') return 'is missing.';
      return issue.input === undefined
        ? `is missing: it must be ${article(issue.expected)}.`
        : `must be ${article(issue.expected)}, not ${typeName(issue.input)}.`;
    case 'invalid_value':
      return issue.input === undefined
        ? `is missing: it must be ${oneOf(issue.values as readonly unknown[])}.`
        : `must be ${oneOf(issue.values as readonly unknown[])}, not ${describeValue(issue.input)}.`;
    case 'too_small':
      if (issue.inclusive === false) return `must be more than ${String(issue.minimum)}.`;
      return `must be ${String(issue.minimum)} or more${unitOf(issue.origin)}.`;
    case 'too_big':
      if (issue.inclusive === false) return `must be less than ${String(issue.maximum)}.`;
      return `must be ${String(issue.maximum)} or less${unitOf(issue.origin)}.`;
    case 'invalid_union':
      return explainUnion(issue.errors as readonly z.core.$ZodIssue[][], issue.input);
    default:
      return undefined;
  }
}

/** Says which types are allowed, if each alternative refuses the value because of its type. */
function explainUnion(errors: readonly z.core.$ZodIssue[][], input: unknown): string {
  const expected = errors.map(([issue]) =>
    issue?.code === 'invalid_type' && issue.path.length === 0 ? article(issue.expected) : undefined,
  );
  if (expected.length === 0 || expected.includes(undefined))
    return `matches none of the allowed forms: it is ${typeName(input)}.`;
  const types = [...new Set(expected)].join(' or ');
  return input === undefined ? `is missing: it must be ${types}.` : `must be ${types}, not ${typeName(input)}.`;
}

function article(expected: string): string {
  if (expected === 'int') return 'a whole number';
  return `${/^[aeiou]/.test(expected) ? 'an' : 'a'} ${expected === 'record' ? 'object' : expected}`.replace(
    'a object',
    'an object',
  );
}

function oneOf(values: readonly unknown[]): string {
  return values
    .map((value) => JSON.stringify(value))
    .join(', ')
    .replace(/, (?=[^,]*$)/, ' or ');
}

function unitOf(origin: string): string {
  if (origin === 'string') return ' characters';
  return origin === 'array' ? ' entries' : '';
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  // Where plain objects are expected, an object of a class is refused too.
  const made: unknown = typeof value === 'object' ? Object.getPrototypeOf(value)?.constructor?.name : 'Object';
  return typeof made !== 'string' || made === 'Object' || made === ''
    ? article(typeof value)
    : `an instance of ${made}`;
}

// The value may be a secret in the wrong place, so only short texts are repeated.
function describeValue(value: unknown): string {
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value.length <= 40 ? JSON.stringify(value) : typeName(value);
}
