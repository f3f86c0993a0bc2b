import { type Compilable, type CompiledQuery, type Kysely, PostgresAdapter, type RawBuilder } from 'kysely';
import { connectionOf } from './kysely-on.ts';
import type { Dialect } from './store.ts';
import type { Tables } from './tables.ts';

/** Runs a statement with these values in it. */
export type Statement<Values, Row> = (db: Kysely<Tables>, values: Values) => Promise<Row[]>;

/**
 * A statement that runs again and again: it is built and compiled once for each kind of database, and then only given its values. On
 * PostgreSQL it is planned once for each connection too. It names its columns: a plan of `select *` dies with the next migration.
 * `given` stands for the values while the statement is built: each is a place in it, and may be used as a value only.
 */
export function statement<Values extends object, Row>(
  build: (db: Kysely<Tables>, given: Values, dialect: Dialect) => Compilable<Row> | RawBuilder<Row>,
): Statement<Values, Row> {
  const compiled: { [D in Dialect]?: CompiledQuery<Row> } = {};
  return async (db, values) => {
    const dialect = dialectOf(db);
    compiled[dialect] ??= named(build(db, places as Values, dialect).compile(db));
    const query = fill(compiled[dialect], values);
    const connection = connectionOf(db);
    return (await (connection?.executeQuery<Row>(query) ?? db.executeQuery(query))).rows;
  };
}

export function dialectOf(db: Kysely<Tables>): Dialect {
  return db.getExecutor().adapter instanceof PostgresAdapter ? 'postgres' : 'sqlite';
}

function fill<Row>({ query, queryId, sql, parameters }: CompiledQuery<Row>, values: object): CompiledQuery<Row> {
  const filled = parameters.map((one) =>
    one instanceof Place ? (values as Readonly<Record<string, unknown>>)[one.name] : one,
  );
  return { query, queryId, sql, parameters: filled };
}

const names = new Map<string, string>();

function named<Row>(query: CompiledQuery<Row>): CompiledQuery<Row> {
  if (!names.has(query.sql)) names.set(query.sql, `lastcall_${names.size + 1}`);
  return query;
}

/** What a database is to know the text by, where it keeps statements. */
export function nameOfStatement(sql: string): string | undefined {
  return names.get(sql);
}

/** Where a value goes. */
class Place {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

const places: object = new Proxy({}, { get: (_target, name) => new Place(String(name)) });
