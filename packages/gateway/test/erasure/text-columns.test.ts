import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { SEARCHED_TABLES } from '../../src/domain/erasure/erase-copies.ts';
import { ownerColumn } from '../../src/domain/erasure/of-other-projects.ts';
import { ERASED_TABLES, TEXT_COLUMNS } from '../../src/domain/erasure/text-columns.ts';
import type { Tables } from '../../src/ports/store/schema/tables.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { databases } from '../support/stores.ts';

test('[O3] every table with texts in which copies are replaced is searched', () => {
  const withTexts = Object.entries(TEXT_COLUMNS).filter(([, columns]) =>
    Object.values(columns).some((how) => how === 'json' || how === 'text'),
  );
  expect(withTexts.map(([table]) => table).filter((table) => !SEARCHED_TABLES.includes(table))).toEqual([]);
});

test('[O1] [O3] of every searched table, it is known to which project a row belongs', () => {
  const unowned = SEARCHED_TABLES.filter((table) => ownerColumn(table as keyof Tables) === undefined);
  // Equal texts of requests are one row for all projects.
  expect(unowned).toEqual(['request_texts']);
});

describe.each(databases)('the text columns of $kind', ({ create }) => {
  const database = forAllTests(create);
  const store = forAllTests(() => database.open());

  test('[O3] every text column is either erased, or says why it holds no text of a person', async () => {
    const known = Object.entries(TEXT_COLUMNS).flatMap(([table, columns]) =>
      Object.keys(columns).map((column) => `${table}.${column}`),
    );
    const columns = await textColumns(store);
    expect(columns.filter((column) => !known.includes(column))).toEqual([]);
    // SQLite has a column that PostgreSQL does not have.
    expect(known.filter((column) => !columns.includes(column) && column !== 'entities.old_external_id')).toEqual([]);
    const reasons = Object.values(TEXT_COLUMNS).flatMap((one) => Object.values(one));
    expect(reasons.filter((how) => !['json', 'text', 'own'].includes(how) && !/^[A-Z].*\.$/.test(how))).toEqual([]);
  });

  test('[O3] the statistics of the database planner have no samples of columns that are erased', async () => {
    if (store.dialect === 'sqlite') {
      const { rows } = await sql`select 1 from sqlite_master where name like 'sqlite_stat%'`.execute(store.db);
      expect(rows).toEqual([]);
      return;
    }
    const { rows } = await sql<{ name: string }>`
      select c.relname || '.' || a.attname as name from pg_attribute a join pg_class c on c.oid = a.attrelid
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attstattarget = 0`.execute(store.db);
    const unsampled = rows.map(({ name }) => name);
    const searched = ERASED_TABLES.flatMap((table: keyof Tables) =>
      Object.entries(TEXT_COLUMNS[table]).flatMap(([column, how]) =>
        how === 'json' || how === 'text' ? [`${table}.${column}`] : [],
      ),
    );
    expect(searched.filter((column) => !unsampled.includes(column))).toEqual([]);
  });
});

async function textColumns({ db, dialect }: Store): Promise<readonly string[]> {
  const query =
    dialect === 'sqlite'
      ? sql<{ name: string }>`
          select m.name || '.' || c.name as name from sqlite_master m, pragma_table_info(m.name) c
          where m.type = 'table' and m.name not like 'sqlite_%' and lower(c.type) = 'text'`
      : sql<{ name: string }>`
          select table_name || '.' || column_name as name from information_schema.columns
          where table_schema = 'public' and data_type in ('text', 'character varying', 'jsonb', 'json', 'bytea', 'tsvector')`;
  const { rows } = await query.execute(db);
  return rows.map(({ name }) => name).filter((name) => !name.startsWith('kysely_'));
}
