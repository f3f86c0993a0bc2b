import { z } from 'zod';
import { MOST_ATTACHMENTS } from '../../domain/artifacts/attachment.ts';
import { OWN_ID } from '../../domain/own-id.ts';
import { fromCursor, toCursor } from './cursor.ts';

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

/** For a text of 500 characters, of up to 3 bytes each, in base64. */
const LONGEST_CURSOR = 2_100;

const limit: z.ZodOptional<z.ZodType<number, string>> = numberInQuery({ min: 1, max: 200 }).optional();
const NEXT = { description: 'The `next` of the previous page.' };

/** The paging parameters of most lists. Cursors are marked: see cursor.ts. */
export const pageFields: {
  cursor: z.ZodOptional<z.ZodType<string, string>>;
  limit: z.ZodOptional<z.ZodType<number, string>>;
} = {
  cursor: z
    .string()
    .max(LONGEST_CURSOR)
    .transform((cursor, context) => {
      const text = fromCursor(cursor);
      if (text !== undefined) return text;
      context.addIssue({ code: 'custom', message: 'must be the `next` of an earlier page.' });
      return z.NEVER;
    })
    .meta(NEXT)
    .optional(),
  limit,
};

/** The paging parameters of lists that recognise their cursors themselves, such as numbers. */
export const positionFields: { cursor: z.ZodOptional<z.ZodString>; limit: z.ZodOptional<z.ZodType<number, string>> } = {
  cursor: z.string().max(500).meta(NEXT).optional(),
  limit,
};

/** The page as clients get it: with a cursor that is marked, if the query takes such cursors. */
export function toShownPage(query: z.ZodType | undefined, page: unknown): unknown {
  const isMarked = query instanceof z.ZodObject && query.shape.cursor === pageFields.cursor;
  if (!isMarked || typeof page !== 'object' || page === null) return page;
  return 'next' in page && typeof page.next === 'string' ? { ...page, next: toCursor(page.next) } : page;
}

export function pageOf(item: z.ZodType): z.ZodType {
  return z.object({
    items: z.array(item),
    next: z.string().optional().meta({ description: 'The cursor of the next page. Absent on the last page.' }),
    damaged: z
      .array(z.strictObject({ id: z.string(), problem: z.string() }))
      .optional()
      .meta({
        description:
          'Rows of this page that are left out because they are damaged in the database, and what to do. Absent if there are none.',
      }),
  });
}
