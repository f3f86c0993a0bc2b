import {
  type Compilable,
  type CompiledQuery,
  type Expression,
  type Kysely,
  type OperationNodeSource,
  PostgresAdapter,
  type RawBuilder,
  ValueNode,
} from 'kysely';
import type { Dialect } from './dialect.ts';
import { connectionOf } from './kysely-on.ts';
import { StoreMisuse } from './store-error.ts';
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

/** A compiled statement: runs with these values in it. */
export interface Statement<Values, Row> {
  (db: Kysely<Tables>, values: Values): Promise<Row[]>;
  /** The same, ready to be sent. Throws where a value is none that a database takes. `db` is used once, to compile it. */
  withValues(on: { readonly dialect: Dialect; readonly db: Kysely<Tables> }, values: Values): CompiledQuery<Row>;
}

/**
 * A statement that runs again and again: it is built and compiled once for each kind of database, and then only given its values. On
 * PostgreSQL it is planned once for each connection too. It names its columns: a plan of `select *` dies with the next migration.
 */
export function statement<Values extends object, Row>(
  build: (db: Kysely<Tables>, params: Params<Values>, dialect: Dialect) => Compilable<Row> | RawBuilder<Row>,
): Statement<Values, Row> {
  const compiled: { [D in Dialect]?: CompiledQuery<Row> } = {};
  const withValues: Statement<Values, Row>['withValues'] = (on, values) => {
    const { dialect } = on;
    compiled[dialect] ??= named(build(on.db, params as Params<Values>, dialect).compile(on.db));
    return fill(compiled[dialect], values);
  };
  const run = async (db: Kysely<Tables>, values: Values): Promise<Row[]> => {
    const query = withValues({ dialect: dialectOf(db), db }, values);
    const connection = connectionOf(db);
    if (connection?.executeNow !== undefined) return connection.executeNow<Row>(query).rows;
    return (await (connection?.executeQuery<Row>(query) ?? db.executeQuery(query))).rows;
  };
  return Object.assign(run, { withValues });
}

export function dialectOf(db: Kysely<Tables>): Dialect {
  return db.getExecutor().adapter instanceof PostgresAdapter ? 'postgres' : 'sqlite';
}

function fill<Row>({ query, queryId, sql, parameters }: CompiledQuery<Row>, values: object): CompiledQuery<Row> {
  const filled = parameters.map((one) =>
    one instanceof ParamNode ? assertBindable(one.name, (values as Readonly<Record<string, unknown>>)[one.name]) : one,
  );
  return { query, queryId, sql, parameters: filled };
}

/** A value that no database takes is refused here, by its name, before the statement is sent. */
function assertBindable(name: string, value: unknown): unknown {
  const isBindable = Array.isArray(value) ? value.every(isPlain) : isPlain(value);
  if (!isBindable)
    throw new StoreMisuse(`The value of "${name}" is no text, number, boolean or list of these: use toJson.`);
  return value;
}

function isPlain(value: unknown): boolean {
  return value === null || BINDABLE.has(typeof value);
}

const BINDABLE: ReadonlySet<string> = new Set(['string', 'number', 'boolean', 'bigint', 'undefined']);

const names = new Map<string, string>();

function named<Row>(query: CompiledQuery<Row>): CompiledQuery<Row> {
  if (!names.has(query.sql)) names.set(query.sql, `lastcall_${names.size + 1}`);
  return query;
}

/** What a database is to know the text by, where it keeps statements. */
export function nameOfStatement(sql: string): string | undefined {
  return names.get(sql);
}

/** Stands for a value while a statement is built. */
class ParamNode implements OperationNodeSource {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  /** Kysely takes what has this for an expression. */
  get expressionType(): undefined {
    return undefined;
  }

  toOperationNode(): ValueNode {
    return ValueNode.create(this);
  }
}

const params: object = new Proxy({}, { get: (_target, name) => new ParamNode(String(name)) });
