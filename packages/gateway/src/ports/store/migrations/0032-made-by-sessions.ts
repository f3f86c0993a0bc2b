import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../dialect.ts';
import { plainText } from './plain-text.ts';

/**
 * Sessions and links store the session that made them, so that they end with it. Links have an id, by which they are
 * listed and revoked.
 */
export function madeBySessions(dialect: Dialect): Migration {
  const text = plainText(dialect);
  return {
    async up(db: Kysely<unknown>) {
      await sql`alter table sessions add column maker_session_id ${text}`.execute(db);
      await sql`alter table sign_in_links add column maker_session_id ${text}`.execute(db);
      await sql`alter table sign_in_links add column revoked_at bigint`.execute(db);
      await sql`alter table sign_in_links add column id ${text}`.execute(db);
      // Existing links are valid for a day at most. A part of the hash is unique enough as their id.
      await sql`update sign_in_links set id = substr(hash, 1, 32)`.execute(db);
      await sql`create unique index sign_in_links_id on sign_in_links (id)`.execute(db);
    },
  };
}
