import { type Expression, sql } from 'kysely';
import type { Dialect } from './dialect.ts';

interface Lockable {
  modifyEnd(modifier: Expression<unknown>): this;
}

/**
 * Locks the rows of the query until the commit: other transactions may also lock them for share, but may not change
 * them. SQLite runs one transaction at a time and needs no locks.
 */
export function forShare<Query extends Lockable>(query: Query, dialect: Dialect): Query {
  return dialect === 'sqlite' ? query : query.modifyEnd(sql`for share`);
}
