import type { z } from 'zod';
import { check } from '../../config/config-problem.ts';
import { ApiError } from '../../domain/api-error.ts';

/** The value as the schema reads it, or 422 with everything that is wrong and where. */
export function validate<T>(schema: z.ZodType<T>, value: unknown, whole = 'The body'): T {
  const checked = check(schema, value);
  if (checked.ok) return checked.value;
  const problems = checked.problems.slice(0, MOST_PROBLEMS);
  const message = problems.map(({ path, message }) => `${path === '' ? whole : path} ${message}`).join(' ');
  throw new ApiError(422, 'invalid_request', message.slice(0, LONGEST_MESSAGE), {
    details: { path: problems[0]?.path ?? '', problems },
  });
}

/** The query of a URL. A name twice is refused: we could only guess which one is meant. */
export function readQuery(url: string): Readonly<Record<string, string>> {
  // Most have none, and to parse a URL costs as much as to read a small body.
  if (!url.includes('?')) return {};
  const query: Record<string, string> = Object.create(null);
  for (const [name, value] of new URL(url).searchParams) {
    if (name in query)
      throw new ApiError(
        422,
        'invalid_request',
        `Query parameter ${JSON.stringify(name.slice(0, 100))} is given twice.`,
        {
          details: { path: name.slice(0, 100) },
        },
      );
    query[name] = value;
  }
  return { ...query };
}

const MOST_PROBLEMS = 20;
const LONGEST_MESSAGE = 4_000;
