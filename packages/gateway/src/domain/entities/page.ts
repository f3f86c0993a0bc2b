import { UnreadableJson } from '../../ports/store/schema/json.ts';
import { isId } from './column-text.ts';
import { invalid } from './invalid.ts';

/** A part of a list. `next` is the cursor of the next part. It is missing on the last one. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next?: string;
  /** Rows that are left out because they cannot be read. Missing if there are none. */
  readonly damaged?: readonly DamagedRow[];
}

export interface DamagedRow {
  readonly id: string;
  /** One sentence that says what to do. */
  readonly problem: string;
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
  const page = readRows(shown, { idOf: cursorOf, toItem });
  return rows.length > limit && last !== undefined ? { ...page, next: cursorOf(last) } : page;
}

/** Reads each row. A damaged one is named and left out: it must not hide all others. */
export function readRows<Row, T>(
  rows: readonly Row[],
  { idOf, toItem }: { idOf: (row: Row) => string; toItem: (row: Row) => T },
): Omit<Page<T>, 'next'> {
  const damaged: DamagedRow[] = [];
  const items = rows.flatMap((row) => {
    try {
      return [toItem(row)];
    } catch (error) {
      damaged.push(damagedRow(idOf(row), error));
      return [];
    }
  });
  return withDamaged({ items }, damaged);
}

/** Rethrows an error that is not about a damaged row. */
export function damagedRow(id: string, error: unknown): DamagedRow {
  if (!(error instanceof UnreadableJson)) throw error;
  return { id, problem: `The row of "${id}" is damaged and left out: stop the gateway and restore a backup.` };
}

export function withDamaged<P extends object>(
  page: P,
  damaged: readonly DamagedRow[],
): P & { readonly damaged?: readonly DamagedRow[] } {
  return damaged.length === 0 ? page : { ...page, damaged };
}
