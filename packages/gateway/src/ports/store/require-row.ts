import type { DatabaseSync } from 'node:sqlite';
import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import type { Dialect } from './dialect.ts';
import type { Tables } from './schema/tables.ts';
import type { Several } from './several.ts';
import { type Params, type Statement, statement } from './statement.ts';

// biome-ignore lint/suspicious/noExplicitAny: which tables it reads is its own affair.
type Rows = SelectQueryBuilder<any, any, unknown>;

/**
 * A statement that fails if the query finds no row. The statements after it are then undone, without waiting for its
 * answer. `isRowMissing` recognises the error.
 */
export function requireRow<Values extends object>(
  build: (db: Kysely<Tables>, params: Params<Values>, dialect: Dialect) => Rows,
  several?: Omit<Several<Values>, 'isRead'>,
): Statement<Values, unknown> {
  return statement(
    (db, params: Params<Values>, dialect) =>
      sql`select lastcall_assert_found(count(*)) from (${build(db, params, dialect)}) as found`,
    several === undefined ? undefined : { ...several, isRead: true },
  );
}

/** PostgreSQL's code for no_data_found. */
const NO_ROW = 'P0002';

export function isRowMissing(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === NO_ROW;
}

/** PostgreSQL gets this function with its tables: see 0001-initial.ts. */
export function addAssertFound(database: DatabaseSync): void {
  database.function('lastcall_assert_found', (found) => {
    if (found === 0) throw Object.assign(new Error('no row was found'), { code: NO_ROW });
    return found;
  });
}
