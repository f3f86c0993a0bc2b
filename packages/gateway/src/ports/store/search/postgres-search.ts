import { type Kysely, sql } from 'kysely';
import { fromJson, toJson } from '../schema/json.ts';
import type { Tables } from '../schema/tables.ts';
import type { Tx } from '../store.ts';
import type { IndexAnswer, IndexEntry, IndexedText, IndexQuery } from './index-entry.ts';

/*
 * A GIN index returns all entries that match, in no order: a common word would be found a million times before the newest fifty are known.
 * So entries are in segments by time, each with a label of its own, and a search reads one segment after the other, newest first.
 */

/** A segment with a common word takes about 20 ms. */
const SEGMENT = 32_768;
/** A search that has not found enough by then says how far it came. */
const MOST_MS = 120;
const KEY = 'segments';

interface Segments {
  /** The first id of each segment, oldest first. The first segment begins at 0. */
  readonly starts: readonly number[];
  /** How many entries the newest segment has. */
  readonly size: number;
}

async function readSegments(db: Kysely<Tables>): Promise<Segments> {
  const row = await db.selectFrom('search_state').select('value').where('key', '=', KEY).executeTakeFirst();
  return row === undefined ? { starts: [0], size: 0 } : fromJson<Segments>(row.value);
}

/** Adds the label of its segment to each text. `ids` are sorted. */
export async function labelSegments(
  tx: Tx,
  texts: readonly IndexedText[],
  ids: readonly number[],
): Promise<readonly IndexedText[]> {
  const before = await readSegments(tx.db);
  const starts = [...before.starts];
  let { size } = before;
  const labelled = texts.map((text, index) => {
    const id = ids[index] as number;
    const newest = starts.length - 1;
    const segment = segmentOf(starts, id);
    if (segment !== newest) return { ...text, labels: [...text.labels, labelOf(segment)] };
    if (size >= SEGMENT && id > (starts[newest] as number)) {
      starts.push(id);
      size = 0;
    }
    size += 1;
    return { ...text, labels: [...text.labels, labelOf(starts.length - 1)] };
  });
  const value = toJson({ starts, size } satisfies Segments);
  await tx.db
    .insertInto('search_state')
    .values({ key: KEY, value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
    .execute();
  return labelled;
}

/** The last segment that begins at the id or before it. */
function segmentOf(starts: readonly number[], id: number): number {
  const after = starts.findLastIndex((start) => start <= id);
  return Math.max(after, 0);
}

function labelOf(segment: number): string {
  return `=g${segment}`;
}

/** A word has at most 255 places in a vector, none above 16,383. */
const MOST_PLACES = 255;
const LAST_PLACE = 16_383;

/** The text of a `tsvector`, without the parser of the database: words are the same on all databases. */
export function toVector(words: readonly string[], labels: readonly string[]): string {
  const places = new Map<string, number[]>();
  for (const [index, word] of words.entries()) {
    const known = places.get(word);
    if (known === undefined) places.set(word, [Math.min(index + 1, LAST_PLACE)]);
    else if (known.length < MOST_PLACES && index < LAST_PLACE) known.push(index + 1);
  }
  const found = [...places].map(([word, at]) => `'${word}':${at.join(',')}`);
  return [...found, ...labels.map((label) => `'${label}'`)].join(' ');
}

export async function findInPostgres(db: Kysely<Tables>, query: IndexQuery): Promise<IndexAnswer> {
  const { starts } = await readSegments(db);
  const until = performance.now() + MOST_MS;
  const entries: IndexEntry[] = [];
  for (let segment = segmentOf(starts, query.before - 1); segment >= 0; segment--) {
    entries.push(...(await findInSegment(db, query, { segment, limit: query.limit - entries.length })));
    const last = entries.at(-1);
    if (entries.length === query.limit && last !== undefined) return { entries, searchedTo: last.id };
    if (segment > 0 && performance.now() > until) return { entries, searchedTo: starts[segment] as number };
  }
  return { entries };
}

async function findInSegment(
  db: Kysely<Tables>,
  { terms, labels, before }: IndexQuery,
  { segment, limit }: { readonly segment: number; readonly limit: number },
): Promise<readonly IndexEntry[]> {
  const wanted = toQuery(terms, [...labels, [labelOf(segment)]]);
  // Materialized: otherwise the planner may read all entries by their ids instead of the words.
  const { rows } = await sql<IndexEntry>`
    with found as materialized (
      select id, kind, source_id, call_id, seq from search_entries where words @@ ${wanted}::text::tsquery
    )
    select * from found where id < ${before} order by id desc limit ${limit}`.execute(db);
  return rows;
}

function toQuery(terms: IndexQuery['terms'], labels: IndexQuery['labels']): string {
  const words = terms.map((term) => {
    const last = term.words.length - 1;
    return term.words.map((word, index) => `'${word}'${index === last && term.isPrefix ? ':*' : ''}`).join(' <-> ');
  });
  const limits = labels.map((list) => list.map((label) => `'${label}'`).join(' | '));
  return [...words, ...limits].map((one) => `(${one})`).join(' & ');
}
