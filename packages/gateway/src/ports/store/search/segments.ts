import type { Kysely } from 'kysely';
import { fromJson, toJson } from '../schema/json.ts';
import type { Tables } from '../schema/tables.ts';
import type { Tx } from '../store.ts';

/*
 * Entries are in segments by time. A search on PostgreSQL reads some segments after others, newest first, and can stop in between: GIN returns all
 * entries that match, in no order, and a common word would be found a million times before the newest fifty are known.
 */

/** A segment in which everything matches takes about 20 ms on PostgreSQL. */
const SEGMENT = 32_768;
const KEY = 'segments';

export interface Segments {
  /** The first id of each segment, oldest first. The first segment begins at 0. */
  readonly starts: readonly number[];
  /** How many entries the newest segment has. */
  readonly size: number;
}

export async function readSegments(db: Kysely<Tables>): Promise<Segments> {
  const row = await db.selectFrom('search_state').select('value').where('key', '=', KEY).executeTakeFirst();
  return row === undefined ? { starts: [0], size: 0 } : fromJson<Segments>(row.value);
}

/** The segment of each entry that is added. `ids` are sorted. A new segment begins when the newest one is full. */
export async function assignSegments(tx: Tx, ids: readonly number[]): Promise<readonly number[]> {
  const before = await readSegments(tx.db);
  const starts = [...before.starts];
  let { size } = before;
  const segments = ids.map((id) => {
    const newest = starts.length - 1;
    const segment = segmentOf(starts, id);
    if (segment !== newest) return segment;
    if (size >= SEGMENT && id > (starts[newest] as number)) {
      starts.push(id);
      size = 0;
    }
    size += 1;
    return starts.length - 1;
  });
  const value = toJson({ starts, size } satisfies Segments);
  await tx.db
    .insertInto('search_state')
    .values({ key: KEY, value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
    .execute();
  return segments;
}

/** The last segment that begins at the id or before it. */
export function segmentOf(starts: readonly number[], id: number): number {
  return Math.max(
    starts.findLastIndex((start) => start <= id),
    0,
  );
}

/**
 * How many full segments these are, to judge by a step how long the next one takes. The newest segment may have few entries, and then most of the
 * time is the same for any step.
 */
export function fullSegments(
  { starts, size }: Segments,
  { oldest, newest }: { readonly oldest: number; readonly newest: number },
): number {
  const count = newest - oldest + 1;
  return newest < starts.length - 1 ? count : count - 1 + Math.max(size / SEGMENT, 0.1);
}
