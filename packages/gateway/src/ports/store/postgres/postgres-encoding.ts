import type { Pool } from 'pg';
import { StoreRefused } from '../store-error.ts';

/** SQL_ASCII stores the bytes as they come, and they come in UTF-8. */
const ANY_TEXT: ReadonlySet<unknown> = new Set(['UTF8', 'SQL_ASCII']);

/** Throws a StoreRefused if the database cannot store every text. In LATIN1, an emoji in a message would fail long after the start. */
export async function assertAnyText(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ name: string; server_encoding: string }>(
    `select current_database() as name, current_setting('server_encoding') as server_encoding`,
  );
  const [{ name, server_encoding: encoding } = { name: '', server_encoding: '' }] = rows;
  if (ANY_TEXT.has(encoding)) return;
  throw new StoreRefused(
    `The database "${name}" has the encoding ${encoding}, which does not have all characters. Create one with UTF8 (createdb --encoding=UTF8 --template=template0 <name>), and name it in DATABASE_URL.`,
  );
}
