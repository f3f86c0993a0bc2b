import { z } from 'zod';

/** An optional field. Null counts as absent: some models have to give every field, and write null for those that they leave out. */
export function orAbsent<T>(schema: z.ZodType<T>): z.ZodType<T | undefined> {
  return z.preprocess((value) => value ?? undefined, schema.optional()).optional();
}
