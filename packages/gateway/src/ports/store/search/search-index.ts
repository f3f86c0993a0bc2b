import type { Kysely } from 'kysely';
import { chunkRows } from '../chunk-rows.ts';
import type { Dialect } from '../dialect.ts';
import type { SearchEntryRow, Tables } from '../schema/tables.ts';
import { type Params, statement } from '../statement.ts';
import type { Tx } from '../store.ts';
import { type IndexAnswer, type IndexedText, type IndexQuery, toAnswer } from './index-entry.ts';
import { findInPostgres, segmentLabel, toVector } from './postgres-search.ts';
import { assignSegments } from './segments.ts';
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

export async function findInIndex(db: Kysely<Tables>, dialect: Dialect, query: IndexQuery): Promise<IndexAnswer> {
  if (query.terms.length === 0 || query.labels.some((list) => list.length === 0)) return { entries: [] };
  return dialect === 'postgres' ? await findInPostgres(db, query) : toAnswer(await findInSqlite(db, query), query);
}
