import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { Client } from 'pg';
import type { Store } from '../../src/ports/store/store.ts';
import type { Database } from '../support/stores.ts';

/** The tables that contain the text, as rows. */
export async function tablesWith(store: Store, text: string): Promise<readonly string[]> {
  return (await tablesWithEach(store, [text]))[text] ?? [];
}

/** The same for several texts. */
export async function tablesWithEach(store: Store, texts: readonly string[]): Promise<Found> {
  const found = nothingOf(texts);
  for (const table of await tablesOf(store)) {
    const { rows } = await sql`select * from ${sql.table(table)}`.execute(store.db);
    const all = JSON.stringify(rows).toLowerCase();
    for (const text of texts) if (all.includes(text.toLowerCase())) found[text]?.push(table);
  }
  for (const text of texts) found[text]?.sort();
  return found;
}

/** Where each text was found. */
export type Found = Readonly<Record<string, string[]>>;

const nothingOf = (texts: readonly string[]): Found => Object.fromEntries(texts.map((text) => [text, []]));

async function tablesOf({ db, dialect }: Store): Promise<readonly string[]> {
  const query =
    dialect === 'sqlite'
      ? sql<{ name: string }>`select name from sqlite_master where type = 'table' and name not like 'sqlite_%'`
      : sql<{
          name: string;
        }>`select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`;
  return (await query.execute(db)).rows.map(({ name }) => name);
}

/** The files of the database, and those under `home`, that contain the bytes of the text. */
export async function filesWith(
  database: Database,
  home: string | undefined,
  text: string,
): Promise<readonly string[]> {
  return (await filesWithEach(database, home, [text]))[text] ?? [];
}

/** The same for several texts: the hundreds of files are read once. */
export async function filesWithEach(
  { kind, location }: Database,
  home: string | undefined,
  texts: readonly string[],
): Promise<Found> {
  const folders = [...(home === undefined ? [] : [home]), kind === 'postgres' ? await folderOf(location) : location];
  const found = nothingOf(texts);
  for (const folder of new Set(folders))
    for (const file of await readdir(folder, { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue;
      const path = join(file.parentPath, file.name);
      const bytes = await readFile(path).catch(() => Buffer.alloc(0));
      for (const text of texts)
        if (bytes.includes(text)) found[text]?.push(`${file.name} ${await nameOf(kind, location, file.name)}`.trim());
    }
  return found;
}

/** Where PostgreSQL has the tables and indexes of the database. They are written there first. */
async function folderOf(url: string): Promise<string> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('checkpoint');
    const { rows } = await client.query(
      `select current_setting('data_directory') as folder, oid from pg_database where datname = current_database()`,
    );
    return join(rows[0].folder, 'base', String(rows[0].oid));
  } finally {
    await client.end();
  }
}

async function nameOf(kind: Database['kind'], url: string, file: string): Promise<string> {
  if (kind === 'sqlite') return '';
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query('select relname from pg_class where pg_relation_filenode(oid) = $1', [
      Number.parseInt(file, 10),
    ]);
    return rows[0]?.relname ?? '';
  } finally {
    await client.end();
  }
}
