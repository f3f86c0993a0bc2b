import { type Kysely, sql } from 'kysely';
import type { Tables } from '../schema/tables.ts';
import { type IndexAnswer, type IndexEntry, type IndexQuery, toAnswer } from './index-entry.ts';
import { fullnessOf, readSegments, segmentOf } from './segments.ts';

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

/** A search returns what it has found, and how far it came, if the next step would take it beyond this time. */
const MOST_MS = 100;

/** Searches one segment after the other, newest first, because the next one may have no match, or nothing but matches. */
export async function findInPostgres(db: Kysely<Tables>, query: IndexQuery): Promise<IndexAnswer> {
  const segments = await readSegments(db);
  const startedAt = performance.now();
  const entries: IndexEntry[] = [];
  let slowestMs = 0;
  for (let segment = segmentOf(segments.starts, query.before - 1); segment >= 0; segment--) {
    const stepAt = performance.now();
    entries.push(...(await findInSegment(db, { ...query, limit: query.limit - entries.length }, segment)));
    if (entries.length === query.limit) break;
    const now = performance.now();
    slowestMs = Math.max(slowestMs, (now - stepAt) / fullnessOf(segments, segment));
    if (segment > 0 && now + slowestMs > startedAt + MOST_MS)
      return { entries, searchedTo: segments.starts[segment] as number };
  }
  return toAnswer(entries, query);
}

/** GIN returns all entries that match, in no order. The label of the segment keeps them few. */
async function findInSegment(
  db: Kysely<Tables>,
  { terms, labels, before, limit }: IndexQuery,
  segment: number,
): Promise<readonly IndexEntry[]> {
  const wanted = toQuery(terms, [...labels, [segmentLabel(segment)]]);
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
