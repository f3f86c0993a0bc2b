import { type Insertable, sql } from 'kysely';
import { COLUMNS } from './columns.ts';
import { givenTable, givenValue } from './several.ts';
import { type Params, type Statement, statement } from './statement.ts';
import type { Tables } from './tables.ts';

/**
 * Inserts a complete row. With `numbers` (the columns that hold numbers; all others hold text), several rows can be one
 * statement.
 */
export function insertRow<T extends keyof typeof COLUMNS>(
  table: T,
  numbers?: readonly (keyof Tables[T])[],
): Statement<Tables[T], unknown> {
  const columns = COLUMNS[table] as readonly (keyof Tables[T] & string)[];
  const typeOf = (column: keyof Tables[T]): string => (numbers?.includes(column) === true ? 'bigint' : 'text');
  return statement(
    (db, params: Params<Tables[T]>) => {
      const values = Object.fromEntries(columns.map((column) => [column, params[column]]));
      return db.insertInto(table).values(values as Insertable<Tables[T]>);
    },
    numbers === undefined
      ? undefined
      : {
          toValues: (all) => Object.fromEntries(columns.map((column) => [column, all.map((row) => row[column])])),
          build(_db, arrays: Params<Readonly<Record<string, unknown[]>>>) {
            const given = columns.map((name) => ({ name, array: arrays[name] as never, type: typeOf(name) }));
            const values = columns.map(givenValue);
            return sql`insert into ${sql.table(table)} (${sql.join(columns.map((name) => sql.id(name)))})
          select ${sql.join(values)} from ${givenTable(given)}`;
          },
        },
  );
}
