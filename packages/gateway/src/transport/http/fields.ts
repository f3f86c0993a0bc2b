import { z } from 'zod';
import { MOST_ATTACHMENTS } from '../../domain/artifacts/attachment.ts';
import { OWN_ID } from '../../domain/own-id.ts';

// Fields that request schemas share. Lengths and characters are checked where the values are used, so that every source is
// checked.

export const idField: z.ZodType<string> = z
  .string()
  .min(1)
  .max(500)
  .regex(/^[^\0]*$/, { error: 'must be an id.' });

export const attachmentsField: z.ZodType<readonly string[]> = z.array(idField).max(MOST_ATTACHMENTS).meta({
  description: 'Ids of files that the sender uploaded with `POST /api/artifacts`.',
});

/** An id that the caller chooses: see domain/own-id.ts. */
export const ownIdField: z.ZodType<string | undefined> = z
  .string()
  .regex(OWN_ID, { error: 'must be 1–64 characters of A–Z, a–z, 0–9, "_" and "-".' })
  .optional()
  .meta({ description: 'An id that you choose. Default: a new id.' });

/** The same field for schemas that are written as JSON Schema. */
export const OWN_ID_JSON: object = { type: 'string', pattern: OWN_ID.source };

export const metadataField: z.ZodType<Readonly<Record<string, unknown>>> = z.record(z.string(), z.unknown());

export const projectField: z.ZodType<string | undefined> = z
  .string()
  .optional()
  .meta({ description: 'The project that it belongs to. Absent for `default`.' });

/** A whole number in a query, written only with digits. */
export function numberInQuery({ min, max }: { min: number; max: number }): z.ZodType<number, string> {
  return z
    .string()
    .regex(/^\d{1,16}$/, { error: `must be a whole number from ${min} to ${max}.` })
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error: `must be a whole number from ${min} to ${max}.` })
    .meta({ type: 'integer', minimum: min, maximum: max });
}

/** The paging parameters that every list has. */
export const pageFields: { cursor: z.ZodOptional<z.ZodString>; limit: z.ZodOptional<z.ZodType<number, string>> } = {
  cursor: z.string().max(500).meta({ description: 'The `next` of the previous page.' }).optional(),
  limit: numberInQuery({ min: 1, max: 200 }).optional(),
};

export function pageOf(item: z.ZodType): z.ZodType {
  return z.object({
    items: z.array(item),
    next: z.string().optional().meta({ description: 'The cursor of the next page. Absent on the last page.' }),
  });
}
