import { type Insertable, sql } from 'kysely';
import { COLUMNS } from './schema/columns.ts';
import type { Tables } from './schema/tables.ts';
import { givenTable, givenValue } from './several.ts';
import { type Params, type Statement, statement } from './statement.ts';

interface InsertOptions<Row, Column extends keyof Row> {
  /** The columns that hold numbers, while all others hold text. With it, several rows can be one statement. */
  readonly numbers?: readonly Column[];
  /** The columns that hold fractions. */
  readonly decimals?: readonly Column[];
  /** Default: all columns. Those that are left out get their defaults. */
  readonly columns?: readonly Column[];
}

export function insertRow<T extends keyof typeof COLUMNS, Column extends keyof Tables[T] = keyof Tables[T]>(
  table: T,
  { numbers, decimals = [], columns: given }: InsertOptions<Tables[T], Column> = {},
): Statement<Pick<Tables[T], Column>, unknown> {
  const columns = (given ?? COLUMNS[table]) as readonly (Column & string)[];
  const typeOf = (column: Column): string => {
    if (decimals.includes(column)) return 'double precision';
    return numbers?.includes(column) === true ? 'bigint' : 'text';
  };
  return statement(
    (db, params: Params<Pick<Tables[T], Column>>) => {
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
