import type { Kysely, SelectQueryBuilder } from 'kysely';
import { pipeline } from './pipeline.ts';
import type { Tables } from './schema/tables.ts';
import type { Several } from './several.ts';
import { type Params, statement } from './statement.ts';

// biome-ignore lint/suspicious/noExplicitAny: which tables it reads is its own affair.
type Build<Values, Row> = (db: Kysely<Tables>, params: Params<Values>) => SelectQueryBuilder<any, any, Row>;

/** The rows of each read, by name. */
export type BatchReads<Values, Rows> = (
  db: Kysely<Tables>,
  values: Values,
) => Promise<{ readonly [Name in keyof Rows]: readonly Rows[Name][] }>;

/** Several reads of a few small rows, as statements that are sent together. See statement.ts for the rules of each. */
export function batchReads<Values extends object>(
  several?: Several<Values>,
): <Rows extends object>(builds: Builds<Values, Rows>) => BatchReads<Values, Rows> {
  return (builds) => {
    const names = Object.keys(builds) as (keyof typeof builds)[];
    const each = names.map((name) => statement<Values, unknown>((db, params) => builds[name](db, params), several));
    return async (db, values) => {
      const found = await pipeline(...each.map((one) => one(db, values)));
      return Object.fromEntries(names.map((name, part) => [name, found[part] ?? []])) as never;
    };
  };
}

type Builds<Values, Rows> = { readonly [Name in keyof Rows]: Build<Values, Rows[Name]> };
