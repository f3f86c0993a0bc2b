import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import { pipeline } from './pipeline.ts';
import { dialectOf, type Params, statement } from './statement.ts';
import type { Tables } from './tables.ts';

// biome-ignore lint/suspicious/noExplicitAny: which tables it reads is its own affair.
type Build<Values, Row> = (db: Kysely<Tables>, params: Params<Values>) => SelectQueryBuilder<any, any, Row>;

/** What each of several readings found, by name. */
export type BatchReads<Values, Rows> = (
  db: Kysely<Tables>,
  values: Values,
) => Promise<{ readonly [Name in keyof Rows]: readonly Rows[Name][] }>;

/**
 * Several readings of a few small rows at once. A database over the wire is asked for all of them in one statement, because there each
 * costs more on its way than where it is answered; the embedded one for each by itself. See statement.ts for what holds for each.
 */
export function batchReads<Values extends object>(): <Rows extends object>(
  builds: Builds<Values, Rows>,
) => BatchReads<Values, Rows> {
  return (builds) => batchReadsOf(builds);
}

type Builds<Values, Rows> = { readonly [Name in keyof Rows]: Build<Values, Rows[Name]> };

function batchReadsOf<Values extends object, Rows extends object>(
  builds: Builds<Values, Rows>,
): BatchReads<Values, Rows> {
  const names = Object.keys(builds) as (keyof Rows)[];
  const each = names.map((name) => statement<Values, unknown>((db, params) => builds[name](db, params)));
  const all = allAtOnce(names.map((name) => builds[name]));
  return async (db, values) => {
    const found = dialectOf(db) === 'postgres' ? apart(await all(db, values)) : await eachByItself(db, values);
    return Object.fromEntries(names.map((name, part) => [name, found[part] ?? []])) as never;
  };

  function eachByItself(db: Kysely<Tables>, values: Values): Promise<readonly unknown[][]> {
    return pipeline(...each.map((one) => one(db, values)));
  }
}

interface Part {
  readonly part: number;
  readonly row: unknown;
}

function allAtOnce<Values extends object>(
  builds: readonly Build<Values, unknown>[],
): (db: Kysely<Tables>, values: Values) => Promise<Part[]> {
  return statement((db, params: Params<Values>) => {
    const parts = builds.map(
      (build, part) =>
        sql`select ${sql.lit(part)} as part, row_to_json(found) as row from (${build(db, params)}) as found`,
    );
    return sql<Part>`${sql.join(parts, sql` union all `)}`;
  });
}

function apart(found: readonly Part[]): readonly unknown[][] {
  const rows: unknown[][] = [];
  for (const { part, row } of found) {
    rows[part] ??= [];
    rows[part].push(row);
  }
  return rows;
}
