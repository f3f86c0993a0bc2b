import { type CompiledQuery, type Kysely, type OperationNodeSource, ValueNode } from 'kysely';
import type { Dialect } from './dialect.ts';
import type { Build, Params } from './params.ts';
import type { Tables } from './schema/tables.ts';
import { StoreMisuse } from './store-error.ts';

/** What a statement is compiled for, once per kind of database. */
export interface Target {
  readonly dialect: Dialect;
  readonly db: Kysely<Tables>;
}

/**
 * Builds and compiles the statement when it is first used. After that, only its values are filled in. With `isNamed`, databases also keep
 * it prepared.
 */
export function compiledOnce<Values extends object, Row>(
  build: Build<Values, Row>,
  { isNamed = true }: { isNamed?: boolean } = {},
): (on: Target, values: object) => CompiledQuery<Row> {
  const compiled: { [D in Dialect]?: Template<Row> } = {};
  return (on, values) => {
    // `db` is needed only the first time. A transaction creates its own on demand, and most never need it.
    const template =
      compiled[on.dialect] ?? toTemplate(build(on.db, params as Params<Values>, on.dialect).compile(on.db), isNamed);
    compiled[on.dialect] = template;
    return fill(template, values);
  };
}

/** A compiled statement, and the names of its parameters. `undefined` marks a parameter that is the same each time. */
interface Template<Row> {
  readonly query: CompiledQuery<Row>;
  readonly names: readonly (string | undefined)[];
}

function toTemplate<Row>(query: CompiledQuery<Row>, isNamed: boolean): Template<Row> {
  return {
    query: isNamed ? named(query) : query,
    names: query.parameters.map((one) => (one instanceof ParamNode ? one.name : undefined)),
  };
}

function fill<Row>(
  { query: { query, queryId, sql, parameters }, names }: Template<Row>,
  values: object,
): CompiledQuery<Row> {
  const filled: unknown[] = [];
  for (let at = 0; at < names.length; at++) {
    const name = names[at];
    filled.push(
      name === undefined ? parameters[at] : assertBindable(name, (values as Readonly<Record<string, unknown>>)[name]),
    );
  }
  return { query, queryId, sql, parameters: filled };
}

/** Rejects a value that the database cannot bind, with its name, before the statement is sent. */
function assertBindable(name: string, value: unknown): unknown {
  const isBindable = isPlain(value) || (Array.isArray(value) && value.every(isPlain));
  if (!isBindable)
    throw new StoreMisuse(`The value of "${name}" is not a text, number, boolean or list of these: use toJson.`);
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

/** The name under which a database prepares the statement. */
export function nameOfStatement(sql: string): string | undefined {
  return names.get(sql);
}

/** Stands in for a value while a statement is built. */
class ParamNode implements OperationNodeSource {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  /** Kysely treats objects with this property as expressions. */
  get expressionType(): undefined {
    return undefined;
  }

  toOperationNode(): ValueNode {
    return ValueNode.create(this);
  }
}

const params: object = new Proxy({}, { get: (_target, name) => new ParamNode(String(name)) });
