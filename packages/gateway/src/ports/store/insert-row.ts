import type { Insertable } from 'kysely';
import { COLUMNS } from './columns.ts';
import { type Params, type Statement, statement } from './statement.ts';
import type { Tables } from './tables.ts';

/** Writes a whole row. */
export function insertRow<T extends keyof typeof COLUMNS>(table: T): Statement<Tables[T], unknown> {
  return statement((db, params: Params<Tables[T]>) => {
    const values = Object.fromEntries(COLUMNS[table].map((column) => [column, params[column]]));
    return db.insertInto(table).values(values as Insertable<Tables[T]>);
  });
}
