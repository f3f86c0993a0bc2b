import type { Compilable, Expression, Kysely, RawBuilder } from 'kysely';
import type { Dialect } from './dialect.ts';
import type { Tables } from './schema/tables.ts';

/**
 * A placeholder for a value while a statement is built. The statement is built once for all values, so its form must
 * not depend on the value: to Kysely the placeholder is an expression, and other code cannot use it as a value. It
 * cannot be called. It is declared as a function because TypeScript refuses a function as a condition: without that,
 * `if (params.x)` would compile and be true for every value.
 */
export interface Param<out T> extends Expression<T> {
  (never: never): never;
}

export type Params<Values> = { readonly [Name in keyof Values]: Param<Values[Name]> };

/** Builds a statement that works for all values. */
export type Build<Values, Row> = (
  db: Kysely<Tables>,
  params: Params<Values>,
  dialect: Dialect,
) => Compilable<Row> | RawBuilder<Row>;
