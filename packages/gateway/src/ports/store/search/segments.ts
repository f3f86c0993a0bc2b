import type { Kysely } from 'kysely';
import { fromJson, toJson } from '../schema/json.ts';
import type { Tables } from '../schema/tables.ts';
import type { Tx } from '../store.ts';

/*
 * Entries are in segments by time. A search on PostgreSQL reads one segment after the other, newest first, and can stop in between: GIN returns all
 * entries that match, in no order, and a common word would be found a million times before the newest fifty are known.
 */

/** A segment in which everything matches takes about 20 ms on PostgreSQL, and 100 ms if a phrase is looked for. */
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
 * How full a segment is, to judge by it how long the next one takes. The newest one may have few entries, and then most of the time is the same for
 * any segment.
 */
export function fullnessOf({ starts, size }: Segments, segment: number): number {
  return segment < starts.length - 1 ? 1 : Math.max(size / SEGMENT, 0.1);
}
