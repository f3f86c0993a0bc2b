import type { z } from 'zod';
import { check } from '../../config/config-problem.ts';
import { ApiError } from '../../domain/api-error.ts';

/** Parses the value with the schema, or throws 422 with every problem and its path. */
export function validate<T>(schema: z.ZodType<T>, value: unknown, whole = 'The body'): T {
  const checked = check(schema, value);
  if (checked.ok) return checked.value;
  const problems = checked.problems.slice(0, MOST_PROBLEMS);
  const message = problems.map(({ path, message }) => `${path === '' ? whole : path} ${message}`).join(' ');
  throw new ApiError('invalid_request', message.slice(0, LONGEST_MESSAGE), {
    details: { path: problems[0]?.path ?? '', problems },
  });
}

/** The query of a URL. A repeated name is refused, because it is unclear which value is meant. */
export function readQuery(url: string): Readonly<Record<string, string>> {
  // Most URLs have no query, and parsing one costs as much as reading a small body.
  if (!url.includes('?')) return {};
  const query: Record<string, string> = Object.create(null);
  for (const [name, value] of new URL(url).searchParams) {
    if (name in query)
      throw new ApiError('invalid_request', `Query parameter ${JSON.stringify(name.slice(0, 100))} is given twice.`, {
        details: { path: name.slice(0, 100) },
      });
    query[name] = value;
  }
  return { ...query };
}

const MOST_PROBLEMS = 20;
const LONGEST_MESSAGE = 4_000;
