import { type CompiledQuery, type Kysely, type OperationNodeSource, ValueNode } from 'kysely';
import type { Dialect } from './dialect.ts';
import type { Build, Params } from './params.ts';
import { StoreMisuse } from './store-error.ts';
import type { Tables } from './tables.ts';

/** What a statement is compiled on, once for each kind of database. */
export interface Target {
  readonly dialect: Dialect;
  readonly db: Kysely<Tables>;
}

/** Builds and compiles it when it is first asked for. From then on it is only given its values. */
export function compiledOnce<Values extends object, Row>(
  build: Build<Values, Row>,
): (on: Target, values: object) => CompiledQuery<Row> {
  const compiled: { [D in Dialect]?: CompiledQuery<Row> } = {};
  return (on, values) => {
    const known = compiled[on.dialect];
    if (known !== undefined) return fill(known, values);
    // Only here: a transaction makes its `db` when it is asked for, and most never need one.
    const query = named(build(on.db, params as Params<Values>, on.dialect).compile(on.db));
    compiled[on.dialect] = query;
    return fill(query, values);
  };
}

function fill<Row>({ query, queryId, sql, parameters }: CompiledQuery<Row>, values: object): CompiledQuery<Row> {
  const filled: unknown[] = [];
  for (const one of parameters)
    filled.push(
      one instanceof ParamNode
        ? assertBindable(one.name, (values as Readonly<Record<string, unknown>>)[one.name])
        : one,
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
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'bigint':
    case 'undefined':
      return true;
    default:
      return value === null;
  }
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
