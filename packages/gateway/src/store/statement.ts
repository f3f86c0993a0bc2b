import type { Compilable, CompiledQuery, Kysely } from 'kysely';
import type { Dialect } from './store.ts';
import type { Tables } from './tables.ts';

/**
 * A statement that runs again and again: it is built and compiled once for each kind of database, and then only given its values. On
 * PostgreSQL it is planned once for each connection too. It names its columns: a plan of `select *` dies with the next migration.
 */
export interface Statement<Values, Row> {
  /** With these values in it. */
  with(dialect: Dialect, db: Kysely<Tables>, values: Values): CompiledQuery<Row>;
}

/** `given` stands for the values while the statement is built: each is a place in it, and may be used as a value only. */
export function statement<Values extends object, Row>(
  build: (db: Kysely<Tables>, given: Values, dialect: Dialect) => Compilable<Row>,
): Statement<Values, Row> {
  const compiled = new Map<Dialect, CompiledQuery<Row>>();
  return {
    with(dialect, db, values) {
      let query = compiled.get(dialect);
      if (query === undefined) {
        query = build(db, places as Values, dialect).compile();
        compiled.set(dialect, query);
        names.set(query.sql, `lastcall_${names.size + 1}`);
      }
      const parameters = query.parameters.map((one) =>
        one instanceof Place ? (values as Record<string, unknown>)[one.name] : one,
      );
      return { query: query.query, queryId: query.queryId, sql: query.sql, parameters };
    },
  };
}

/** What a database is to know the text by, where it keeps statements. */
export function nameOfStatement(sql: string): string | undefined {
  return names.get(sql);
}

const names = new Map<string, string>();

/** Where a value goes. */
class Place {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

const places: object = new Proxy({}, { get: (_target, name) => new Place(String(name)) });
