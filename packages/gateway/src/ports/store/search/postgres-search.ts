import { type Kysely, sql } from 'kysely';
import type { Tables } from '../schema/tables.ts';
import type { IndexEntry, IndexQuery, SegmentRange } from './index-entry.ts';

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

/** GIN returns all entries that match, in no order. The labels of the segments keep them few. */
export async function findInPostgres(
  db: Kysely<Tables>,
  { terms, labels, before, limit }: IndexQuery,
  { oldest, newest }: SegmentRange,
): Promise<readonly IndexEntry[]> {
  const segments = Array.from({ length: newest - oldest + 1 }, (_, index) => segmentLabel(oldest + index));
  const wanted = toQuery(terms, [...labels, segments]);
  // Materialized: otherwise the planner may read all entries by their ids instead of the words.
  const { rows } = await sql<IndexEntry>`
    with found as materialized (
      select id, kind, source_id, call_id, seq from search_entries where words @@ ${wanted}::text::tsquery
    )
    select * from found where id < ${before} order by id desc limit ${limit}`.execute(db);
  return rows;
}

export function segmentLabel(segment: number): string {
  return `=g${segment}`;
}

function toQuery(terms: IndexQuery['terms'], labels: IndexQuery['labels']): string {
  const words = terms.map((term) => {
    const last = term.words.length - 1;
    return term.words.map((word, index) => `'${word}'${index === last && term.isPrefix ? ':*' : ''}`).join(' <-> ');
  });
  const limits = labels.map((list) => list.map((label) => `'${label}'`).join(' | '));
  return [...words, ...limits].map((one) => `(${one})`).join(' & ');
}
