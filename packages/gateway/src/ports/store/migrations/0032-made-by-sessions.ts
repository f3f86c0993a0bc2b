import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../dialect.ts';
import { plainText } from './plain-text.ts';

/** Sessions and links know the session that made them, to end with it. Links have an id, to be listed and revoked by. */
export function madeBySessions(dialect: Dialect): Migration {
  const text = plainText(dialect);
  return {
    async up(db: Kysely<unknown>) {
      await sql`alter table sessions add column maker_session_id ${text}`.execute(db);
      await sql`alter table sign_in_links add column maker_session_id ${text}`.execute(db);
      await sql`alter table sign_in_links add column revoked_at bigint`.execute(db);
      await sql`alter table sign_in_links add column id ${text}`.execute(db);
      // Links of before are good for a day at most: a part of the hash tells them apart.
      await sql`update sign_in_links set id = substr(hash, 1, 32)`.execute(db);
      await sql`create unique index sign_in_links_id on sign_in_links (id)`.execute(db);
    },
  };
}
