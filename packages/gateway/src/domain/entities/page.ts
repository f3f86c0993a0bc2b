import { isId } from './column-text.ts';
import { invalid } from './invalid.ts';

/** A part of a list. `next` is the cursor of the part after it; without it, this is the last one. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next?: string;
}

export interface PageOptions {
  /** `next` of the page before. */
  readonly cursor?: string | undefined;
  /** 1–200. Default 50. */
  readonly limit?: number | undefined;
}

const LARGEST_PAGE = 200;
const USUAL_PAGE = 50;

/** Refuses what it will not do: a page is never smaller than was asked for without saying so. */
export function pageLimit(limit: number = USUAL_PAGE): number {
  if (!Number.isInteger(limit) || limit < 1 || limit > LARGEST_PAGE)
    throw invalid('limit', `must be a whole number from 1 to ${LARGEST_PAGE}, not ${limit}.`);
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

/** Of rows that were asked for one beyond the limit: whether it is there tells whether there is more. */
export function toPage<Row, T>(
  rows: readonly Row[],
  { limit, cursorOf, toItem }: { limit: number; cursorOf: (row: Row) => string; toItem: (row: Row) => T },
): Page<T> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const items = shown.map(toItem);
  return rows.length > limit && last !== undefined ? { items, next: cursorOf(last) } : { items };
}
