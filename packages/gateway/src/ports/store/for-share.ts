import { type Expression, sql } from 'kysely';
import type { Dialect } from './dialect.ts';

interface Lockable {
  modifyEnd(modifier: Expression<unknown>): this;
}

/**
 * Locks the rows that the query finds until the commit: others may lock them for share too, and nobody may change them. SQLite runs
 * one transaction at a time, and has nothing to lock.
 */
export function forShare<Query extends Lockable>(query: Query, dialect: Dialect): Query {
  return dialect === 'sqlite' ? query : query.modifyEnd(sql`for share`);
}
