import { type RawBuilder, sql } from 'kysely';
import type { Dialect } from '../dialect.ts';

/**
 * The type of a text column. PostgreSQL must compare texts byte by byte, as SQLite and JavaScript do, not by the rules
 * of the database's language.
 */
export function plainText(dialect: Dialect): RawBuilder<unknown> {
  return dialect === 'sqlite' ? sql`text` : sql`text collate "C"`;
}
