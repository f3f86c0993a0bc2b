import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Tables } from './schema/tables.ts';
import { dialectOf, type Param } from './statement.ts';

/**
 * The later of the transaction's time and the time at which the statement runs. A statement may have waited for a lock,
 * and must find what became due in the meantime. On SQLite nothing else changes while a transaction runs.
 */
export function nowOrLater(db: Kysely<Tables>, now: number | Param<number>): RawBuilder<number> {
  if (dialectOf(db) === 'sqlite') return sql<number>`${now}`;
  return sql<number>`greatest(${now}::bigint, (extract(epoch from clock_timestamp()) * 1000)::bigint)`;
}
