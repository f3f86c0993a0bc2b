import type { Kysely } from 'kysely';
import { chunkRows } from '../chunk-rows.ts';
import type { Dialect } from '../dialect.ts';
import type { SearchEntryRow, Tables } from '../schema/tables.ts';
import { type Params, statement } from '../statement.ts';
import type { Tx } from '../store.ts';
import type { IndexAnswer, IndexEntry, IndexedText, IndexQuery } from './index-entry.ts';
import { findInPostgres, segmentLabel, toVector } from './postgres-search.ts';
import { assignSegments, fullSegments, readSegments, segmentOf } from './segments.ts';
import { findInSqlite } from './sqlite-search.ts';

/** A millisecond has place for so many entries. */
const PER_MS = 1_024;

export function timeOfEntry(id: number): number {
  return Math.floor(id / PER_MS);
}

/** Adds texts. Only one transaction at a time may do this. */
export async function addToIndex(tx: Tx, texts: readonly IndexedText[]): Promise<void> {
  const sorted = texts.toSorted((one, other) => one.at - other.at);
  const ids = await freeIds(tx.db, sorted);
  const segments = await assignSegments(tx, ids);
  const rows = sorted.map(({ kind, source_id, call_id, seq, words, labels }, index): SearchEntryRow => {
    const all =
      tx.dialect === 'postgres'
        ? toVector(words, [...labels, segmentLabel(segments[index] as number)])
        : [...words, ...labels].join(' ');
    return { id: ids[index] as number, kind, source_id, call_id, seq, words: all };
  });
  for (const few of chunkRows(rows)) await tx.db.insertInto('search_entries').values(few).execute();
}

const AT_ONCE = 500;

/** Ids by time, which no entry has yet. */
async function freeIds(db: Kysely<Tables>, texts: readonly IndexedText[]): Promise<readonly number[]> {
  const occupied = new Set<number>();
  for (;;) {
    const taken = new Set(occupied);
    const ids = texts.map(({ at }) => {
      let id = Math.max(Math.floor(at), 0) * PER_MS;
      while (taken.has(id)) id += 1;
      taken.add(id);
      return id;
    });
    const known = await existing(db, ids);
    if (known.length === 0) return ids;
    for (const at of new Set(known.map(timeOfEntry))) for (const id of await idsAt(db, at)) occupied.add(id);
  }
}

async function existing(db: Kysely<Tables>, ids: readonly number[]): Promise<readonly number[]> {
  const found: number[] = [];
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const few = ids.slice(from, from + AT_ONCE);
    const rows = await db.selectFrom('search_entries').select('id').where('id', 'in', few).execute();
    found.push(...rows.map(({ id }) => id));
  }
  return found;
}

/** The ids of a millisecond, and of the next one: a millisecond with many entries reaches into it. */
async function idsAt(db: Kysely<Tables>, at: number): Promise<readonly number[]> {
  const rows = await idsBetween(db, { from: at * PER_MS, to: (at + 2) * PER_MS });
  return rows.map(({ id }) => id);
}

const idsBetween = statement((db, { from, to }: Params<{ from: number; to: number }>) =>
  db.selectFrom('search_entries').select('id').where('id', '>=', from).where('id', '<', to),
);

/** A search returns what it has found, and how far it came, before the next step would take it beyond this time. */
const MOST_MS = 150;
/** A search for rare words is done sooner with several segments at a time, and one for common words with the newest alone. */
const MOST_SEGMENTS = 2;

export async function findInIndex(db: Kysely<Tables>, dialect: Dialect, query: IndexQuery): Promise<IndexAnswer> {
  if (query.terms.length === 0 || query.labels.some((list) => list.length === 0)) return { entries: [] };
  const find = dialect === 'postgres' ? findInPostgres : findInSqlite;
  const segments = await readSegments(db);
  const { starts } = segments;
  const startedAt = performance.now();
  const entries: IndexEntry[] = [];
  let newest = segmentOf(starts, query.before - 1);
  // FTS5 stops when it has found enough. Its lists are read from their ends, so that several steps would read the newer parts several times.
  let count = dialect === 'sqlite' ? starts.length : 1;
  for (let slowestMs = 0.01; newest >= 0; ) {
    const oldest = Math.max(newest - count + 1, 0);
    const from = starts[oldest] as number;
    const stepAt = performance.now();
    entries.push(...(await find(db, { ...query, limit: query.limit - entries.length }, { oldest, newest, from })));
    const last = entries.at(-1);
    if (entries.length === query.limit && last !== undefined) return { entries, searchedTo: last.id };
    const now = performance.now();
    slowestMs = Math.max(slowestMs, (now - stepAt) / fullSegments(segments, { oldest, newest }));
    const most = newest === starts.length - 1 ? 1 : MOST_SEGMENTS;
    count = Math.min(most, Math.floor((startedAt + MOST_MS - now) / slowestMs));
    if (oldest > 0 && count < 1) return { entries, searchedTo: from };
    newest = oldest - 1;
  }
  return { entries };
}
