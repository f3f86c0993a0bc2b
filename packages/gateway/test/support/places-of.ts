import { sql } from 'kysely';
import type { Store } from '../../src/ports/store/store.ts';

/** The columns in which a text is stored, once per row: `agents.tag`. The case does not count. */
export async function placesOf(store: Store, text: string): Promise<readonly string[]> {
  const places: string[] = [];
  for (const table of await tablesOf(store)) {
    const { rows } = await sql<object>`select * from ${sql.table(table)}`.execute(store.db);
    for (const row of rows)
      for (const [column, value] of Object.entries(row))
        if (String(value).toLowerCase().includes(text.toLowerCase())) places.push(`${table}.${column}`);
  }
  return places;
}

async function tablesOf(store: Store): Promise<readonly string[]> {
  const names =
    store.dialect === 'sqlite'
      ? sql<{
          name: string;
        }>`select name from sqlite_master where type = 'table' and name not like 'sqlite%' order by name`
      : sql<{
          name: string;
        }>`select table_name as name from information_schema.tables where table_schema = current_schema() order by 1`;
  return (await names.execute(store.db)).rows.map(({ name }) => name);
}
