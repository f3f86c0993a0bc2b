import { z } from 'zod';

/**
 * The short id of a space, a message or a call. A model is shown its number, and may write it as one. Not `z.coerce`: that reads
 * null as the text "null", and its error for a missing field does not say what is expected.
 */
export const reference: z.ZodType<string> = z.preprocess(
  (value) => (typeof value === 'number' ? String(value) : value),
  z.string().min(1).max(200),
);
