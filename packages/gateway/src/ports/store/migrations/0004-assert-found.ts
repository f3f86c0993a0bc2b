import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../dialect.ts';

/**
 * The function with which a statement fails if it finds no row. On SQLite it is not stored in the file: see
 * require-row.ts.
 */
export function assertFound(dialect: Dialect): Migration {
  return {
    async up(db: Kysely<unknown>) {
      if (dialect === 'sqlite') return;
      await sql`
        create function lastcall_assert_found(rows_found bigint) returns bigint language plpgsql as $$
        begin
          if rows_found = 0 then raise exception 'no row was found' using errcode = 'no_data_found'; end if;
          return rows_found;
        end $$`.execute(db);
    },
  };
}
