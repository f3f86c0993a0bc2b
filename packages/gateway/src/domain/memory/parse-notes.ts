import { z } from 'zod';
import { check } from '../../config/config-problem.ts';
import { ApiError } from '../api-error.ts';

/** Checks notes that a model or a client wrote. A problem is reported with its path before anything is done. */
export function parseNotes<T>(what: string, schema: z.ZodType<T>, notes: readonly T[]): readonly T[] {
  const checked = check(z.array(schema), notes, [what]);
  if (checked.ok) return checked.value;
  const { problems } = checked;
  const words = problems.map(({ path, message }) => `${path} ${message}`);
  throw new ApiError('invalid_request', words.join(' '), { details: { path: problems[0]?.path ?? '', problems } });
}
