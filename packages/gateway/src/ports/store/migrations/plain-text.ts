import { type RawBuilder, sql } from 'kysely';
import type { Dialect } from '../dialect.ts';

/** The type of a text column. PostgreSQL must compare it byte by byte, as SQLite and JavaScript do, whatever the database's language. */
export function plainText(dialect: Dialect): RawBuilder<unknown> {
  return dialect === 'sqlite' ? sql`text` : sql`text collate "C"`;
}
