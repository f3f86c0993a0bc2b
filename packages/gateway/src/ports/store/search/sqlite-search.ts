import { type Kysely, sql } from 'kysely';
import type { Tables } from '../schema/tables.ts';
import type { IndexEntry, IndexQuery } from './index-entry.ts';

/** FTS5 reads the lists of its words from their ends, and stops when it has found enough. */
export async function findInSqlite(db: Kysely<Tables>, query: IndexQuery): Promise<readonly IndexEntry[]> {
  const { rows } = await sql<IndexEntry>`
    select e.id, e.kind, e.source_id, e.call_id, e.seq
    from search_words join search_entries e on e.id = search_words.rowid
    where search_words match ${toMatch(query)} and search_words.rowid < ${query.before}
    order by search_words.rowid desc limit ${query.limit}`.execute(db);
  return rows;
}

/** Words and labels have letters, digits and `=` only, so that quotation marks are enough. */
function toMatch({ terms, labels }: IndexQuery): string {
  const words = terms.map((term) => `"${term.words.join(' ')}"${term.isPrefix ? ' *' : ''}`);
  const limits = labels.map((list) => `(${list.map((label) => `"${label}"`).join(' OR ')})`);
  return [...words, ...limits].join(' AND ');
}
