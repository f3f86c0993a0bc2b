import type { Compilable, Expression, Kysely, RawBuilder } from 'kysely';
import type { Dialect } from './dialect.ts';
import type { Tables } from './tables.ts';

/**
 * A value that a statement will be given, while it is built. The statement is built once for all values, so nothing may depend on this
 * one: it is an expression to Kysely, and no value to anything else. It cannot be called; it is declared as a function because
 * TypeScript refuses a function as a condition, and `if (params.x)` would be true for every value.
 */
export interface Param<out T> extends Expression<T> {
  (never: never): never;
}

export type Params<Values> = { readonly [Name in keyof Values]: Param<Values[Name]> };

/** Builds a statement for all values. */
export type Build<Values, Row> = (
  db: Kysely<Tables>,
  params: Params<Values>,
  dialect: Dialect,
) => Compilable<Row> | RawBuilder<Row>;
