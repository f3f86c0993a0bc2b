import {
  type AliasedRawBuilder,
  type Compilable,
  type CompiledQuery,
  type Expression,
  type Kysely,
  type RawBuilder,
  sql,
  type UpdateQueryBuilder,
  UpdateQueryNode,
} from 'kysely';
import { compiledOnce } from './compiled-once.ts';
import type { Build, Params } from './params.ts';
import type { Tables } from './schema/tables.ts';

/**
 * One statement that replaces several with different values, for PostgreSQL: most of the cost of a small statement is
 * starting and ending it. postgres-group.ts runs them.
 */
export interface SeveralForm {
  /** True if it only reads. */
  readonly isRead: boolean;
  /** True if it locks rows that others wait for. It is then sent with the commit and not before. */
  readonly isLast: boolean;
  /**
   * Names the row that it changes or locks. The same row must not occur twice in one statement. Undefined if it has
   * none.
   */
  keyOf(values: object): string | undefined;
  /** The column `place` of its rows says which of the values they belong to, counted from 1. */
  withValues(db: Kysely<Tables>, all: readonly object[]): CompiledQuery;
}

interface SeveralKey<Values> {
  /** The value that names the row that the statement changes or locks. */
  readonly key?: keyof Values & string;
}

/** The types of a statement's values. The statement is a read or an update. */
export interface Several<Values> extends SeveralKey<Values> {
  readonly types: { readonly [Name in keyof Values]: 'text' | 'bigint' };
  /** True if it only reads, which is known without this if it has no key. */
  readonly isRead?: boolean;
}

/** A hand-written statement for several values. */
export interface SeveralByHand<Values, All extends object> extends SeveralKey<Values> {
  readonly isLast?: boolean;
  readonly toValues: (all: readonly Values[]) => All;
  readonly build: (db: Kysely<Tables>, params: Params<All>) => Compilable | RawBuilder<unknown>;
}

export function toSeveralForm<Values extends object, All extends object>(
  build: Build<Values, unknown>,
  several: Several<Values> | SeveralByHand<Values, All>,
): SeveralForm {
  const { key } = several;
  const byHand = 'build' in several ? several : overGiven(build, several);
  const fillIn = compiledOnce<All, unknown>((db, all) => byHand.build(db, all as never));
  return {
    isRead: 'types' in several && (several.isRead ?? key === undefined),
    isLast: 'isLast' in several && several.isLast === true,
    keyOf: (values) => (key === undefined ? undefined : String((values as Values)[key])),
    withValues: (db, all) => fillIn({ dialect: 'postgres', db }, byHand.toValues(all as readonly Values[])),
  };
}

/**
 * Runs the same statement for a table of values. A read runs once per row, in order: `offset 0` keeps PostgreSQL from
 * turning it into a join, which would run in any order and might be planned differently.
 */
function overGiven<Values extends object>(
  build: Build<Values, unknown>,
  { types }: Several<Values>,
): SeveralByHand<Values, Readonly<Record<string, readonly unknown[]>>> {
  const names = Object.keys(types) as (keyof Values & string)[];
  return {
    toValues: (all) => Object.fromEntries(names.map((name) => [name, all.map((values) => values[name])])),
    build(db, arrays) {
      const one = build(db, givenValues as Params<Values>, 'postgres') as RawBuilder<unknown>;
      const given = givenTable(names.map((name) => ({ name, array: arrays[name] as never, type: types[name] })));
      return UpdateQueryNode.is(one.toOperationNode())
        ? updateFrom(one, given)
        : sql`select given.place, own.* from ${given}, lateral (${one} offset 0) as own`;
    },
  };
}

function updateFrom(update: unknown, given: AliasedRawBuilder<unknown, string>): Compilable {
  return (update as UpdateQueryBuilder<Tables, never, never, object>)
    .from(given as never)
    .returning(sql<number>`given.place`.as('place'));
}

interface GivenColumn {
  readonly name: string;
  readonly array: Expression<unknown>;
  readonly type: string;
}

/** A table of values, from one array per column. Its column names do not occur in the store. */
export function givenTable(columns: readonly GivenColumn[]): AliasedRawBuilder<unknown, string> {
  const arrays = columns.map(({ array, type }) => sql`${array}::${sql.raw(type)}[]`);
  const names = columns.map(({ name }) => sql.id(columnOf(name)));
  return sql`unnest(${sql.join(arrays)}) with ordinality`.as<string>(sql`given(${sql.join(names)}, place)`);
}

/** The column of that table which holds this value. */
export function givenValue(name: string): RawBuilder<unknown> {
  return sql.id('given', columnOf(name));
}

const columnOf = (name: string): string => `given_${name}`;

const givenValues: object = new Proxy({}, { get: (_target, name) => givenValue(String(name)) });
