import { z } from 'zod';

/** A whole number of a built-in tool. Its bounds are checked, and not sent to the model: they would cost tokens in every request. */
export function wholeNumber({ min, max }: { readonly min: number; readonly max: number }): z.ZodType<number> {
  return z.int().refine((value) => value >= min && value <= max, { error: `must be from ${min} to ${max}.` });
}
