import { isId } from './column-text.ts';
import { invalid } from './invalid.ts';

/** A part of a list. `next` is the cursor of the next part. It is missing on the last one. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next?: string;
}

export interface PageOptions {
  /** The `next` of the previous page. */
  readonly cursor?: string | undefined;
  /** 1–200. Default 50. */
  readonly limit?: number | undefined;
}

const MAX_PAGE_SIZE = 200;
const DEFAULT_PAGE_SIZE = 50;

/** Refuses a limit that is out of range: a page must not be silently smaller than requested. */
export function pageLimit(limit: number = DEFAULT_PAGE_SIZE): number {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE_SIZE)
    throw invalid('limit', `must be a whole number from 1 to ${MAX_PAGE_SIZE}, not ${limit}.`);
  return limit;
}

export function textCursor(cursor: string | undefined): string | undefined {
  if (cursor !== undefined && !isId(cursor)) throw invalid('cursor', 'must be the `next` of an earlier page.');
  return cursor;
}

export function numberCursor(cursor: string | undefined): number | undefined {
  if (cursor !== undefined && !/^\d{1,15}$/.test(cursor))
    throw invalid('cursor', 'must be the `next` of an earlier page.');
  return cursor === undefined ? undefined : Number(cursor);
}

/** Creates a page from rows that were read with a limit of one more. The extra row shows whether there is a next page. */
export function toPage<Row, T>(
  rows: readonly Row[],
  { limit, cursorOf, toItem }: { limit: number; cursorOf: (row: Row) => string; toItem: (row: Row) => T },
): Page<T> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const items = shown.map(toItem);
  return rows.length > limit && last !== undefined ? { items, next: cursorOf(last) } : { items };
}
