import { formatPath } from './format-path.ts';
import type { Problem } from './schema-result.ts';

/** The problems of a failed validation, in any library's form. Never empty. */
export function problemsOf(issues: unknown): readonly Problem[] {
  const problems = Array.isArray(issues) ? issues.flatMap((issue) => problemsOfIssue(issue, [])) : [];
  return problems.length > 0 ? problems : [{ path: '', message: NO_MESSAGE }];
}

const NO_MESSAGE = 'does not fit the schema';

interface LooseIssue {
  readonly message?: unknown;
  readonly path?: unknown;
  /** Set in Zod's `unrecognized_keys` issue. */
  readonly keys?: unknown;
  /** Set in Zod's `invalid_union` issue: the issues of each alternative. */
  readonly errors?: unknown;
  readonly code?: unknown;
}

function problemsOfIssue(issue: unknown, base: readonly PropertyKey[]): readonly Problem[] {
  const { message, path, keys, errors, code } = (issue ?? {}) as LooseIssue;
  const place = [...base, ...keysOf(path)];
  if (code === 'unrecognized_keys' && Array.isArray(keys)) {
    return keys.map((key) => ({ path: formatPath([...place, String(key)]), message: 'unknown key' }));
  }
  const text = typeof message === 'string' && message.trim() !== '' ? message : NO_MESSAGE;
  const alternatives = code === 'invalid_union' && Array.isArray(errors) ? alternativesText(errors) : '';
  return [{ path: formatPath(place), message: text + alternatives }];
}

/** Zod only says "Invalid input" for a union. A model needs to know what each alternative lacks. */
function alternativesText(errors: readonly unknown[]): string {
  const texts = errors.map((issues, index) => `(${index + 1}) ${problemsOf(issues).map(problemText).join(', ')}`);
  return texts.length === 0 ? '' : `; fits none of ${texts.length} alternatives: ${texts.join('; ')}`;
}

function problemText({ path, message }: Problem): string {
  return path === '' ? message : `${path}: ${message}`;
}

/** A segment is a key, or an object that contains it. */
function keysOf(path: unknown): readonly PropertyKey[] {
  if (!Array.isArray(path)) return [];
  return Array.from(path as unknown[], (segment) =>
    typeof segment === 'object' && segment !== null ? (segment as { key: PropertyKey }).key : (segment as PropertyKey),
  );
}
