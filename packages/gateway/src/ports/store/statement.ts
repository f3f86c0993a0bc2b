import { type CompiledQuery, type Kysely, PostgresAdapter } from 'kysely';
import { compiledOnce, type Target } from './compiled-once.ts';
import type { Dialect } from './dialect.ts';
import { connectionOf } from './kysely-on.ts';
import type { Build } from './params.ts';
import type { Tables } from './schema/tables.ts';
import { type Several, type SeveralByHand, type SeveralForm, toSeveralForm } from './several.ts';

export type { Param, Params } from './params.ts';

/** A compiled statement: runs with these values in it. */
export interface Statement<Values, Row> {
  (db: Kysely<Tables>, values: Values): Promise<Row[]>;
  /** The same, ready to be sent. Throws if the database cannot bind a value. `db` is used once, to compile it. */
  withValues(on: Target, values: Values): FilledQuery<Row>;
}

/** A statement with its values in it. */
export interface FilledQuery<Row = unknown> extends CompiledQuery<Row> {
  readonly values: object;
  /** Runs it for several values at once, if possible: see several.ts. */
  readonly several?: SeveralForm | undefined;
}

/**
 * A statement that is used again and again. It is built and compiled once per kind of database; after that, only its
 * values are filled in. On PostgreSQL it is also planned once per connection. It must name its columns: the plan of a
 * `select *` breaks with the next migration.
 */
export function statement<Values extends object, Row, All extends object = object>(
  build: Build<Values, Row>,
  several?: Several<Values> | SeveralByHand<Values, All>,
): Statement<Values, Row> {
  return toStatement(compiledOnce(build), several === undefined ? undefined : toSeveralForm(build, several));
}

/**
 * The same for a statement that searches a table, such as one of a periodic task: PostgreSQL plans it each time. A plan from the time when
 * the table was empty would read the whole table after it has grown.
 */
export function searchStatement<Values extends object, Row>(build: Build<Values, Row>): Statement<Values, Row> {
  return toStatement(compiledOnce(build, { isNamed: false }), undefined);
}

function toStatement<Values extends object, Row>(
  fillIn: (on: Target, values: object) => CompiledQuery<Row>,
  form: SeveralForm | undefined,
): Statement<Values, Row> {
  const withValues: Statement<Values, Row>['withValues'] = (on, values) => {
    const { query, queryId, sql, parameters } = fillIn(on, values);
    return { query, queryId, sql, parameters, values, several: form };
  };
  const run = async (db: Kysely<Tables>, values: Values): Promise<Row[]> => {
    const query = withValues({ dialect: dialectOf(db), db }, values);
    return (await (connectionOf(db) ?? db).executeQuery<Row>(query)).rows;
  };
  return Object.assign(run, { withValues });
}

export function dialectOf(db: Kysely<Tables>): Dialect {
  return db.getExecutor().adapter instanceof PostgresAdapter ? 'postgres' : 'sqlite';
}
