import type { JsonSchemaObject } from '@lastcall/core';
import type { StandardSchemaV1 } from '@standard-schema/spec';

/** A schema as users write it: a Standard Schema (zod, valibot, arktype, …) or a JSON Schema. */
export type AnySchema = StandardSchemaV1 | JsonSchemaObject;

/** The output type of a schema. `Otherwise` is the type if there is no schema. */
export type ParsedBy<Q, Otherwise> = unknown extends Q
  ? Otherwise
  : Q extends StandardSchemaV1<infer _W, infer P>
    ? P
    : FromJson<Q, 'parsed'>;

/** The type of a state: inferred from its schema, or named explicitly. */
export type StateOf<S, Q> = NoInfer<ParsedBy<Q, S>>;

/** The input type of a schema: fields with a default may be missing. */
export type WrittenFor<Q, Otherwise> = unknown extends Q
  ? Otherwise
  : Q extends StandardSchemaV1<infer W, infer _P>
    ? W
    : FromJson<Q, 'written'>;

/**
 * The type that a JSON Schema describes, as far as the compiler can read it: a schema written inline, or `as const`.
 * The rest is `any`, so that an annotation may state what the compiler cannot see.
 */
type FromJson<Q, Side> = Q extends { readonly const: infer C }
  ? C
  : Q extends { readonly enum: readonly (infer E)[] }
    ? E
    : Q extends { readonly anyOf: readonly (infer A)[] } | { readonly oneOf: readonly (infer A)[] }
      ? FromJson<A, Side>
      : Q extends { readonly type: infer T }
        ? FromType<T, Q, Side>
        : Unreadable;

type FromType<T, Q, Side> = T extends 'object'
  ? FromObject<Q, Side>
  : T extends 'array'
    ? FromJson<ItemsOf<Q>, Side>[]
    : T extends keyof Scalars
      ? Scalars[T]
      : T extends readonly (infer M)[]
        ? FromType<M, Q, Side>
        : Unreadable;

interface Scalars {
  string: string;
  number: number;
  integer: number;
  boolean: boolean;
  null: null;
}

type ItemsOf<Q> = Q extends { readonly items: infer Items } ? Items : unknown;

type FromObject<Q, Side> = Q extends { readonly properties: infer P extends object }
  ? Flat<
      { -readonly [K in keyof P as K extends Present<Q, Side> ? K : never]: FromJson<P[K], Side> } & {
        -readonly [K in keyof P as K extends Present<Q, Side> ? never : K]?: FromJson<P[K], Side>;
      }
    >
  : Record<string, unknown>;

/** Fields that are always present: the required ones, and after parsing those with a default. */
type Present<Q, Side> = RequiredBy<Q> | (Side extends 'parsed' ? DefaultedBy<Q> : never);
type RequiredBy<Q> = Q extends { readonly required: readonly (infer R)[] } ? R : never;
type DefaultedBy<Q> = Q extends { readonly properties: infer P }
  ? { [K in keyof P]: P[K] extends { readonly default: unknown } ? K : never }[keyof P]
  : never;

type Flat<T> = { [K in keyof T]: T[K] };

// biome-ignore lint/suspicious/noExplicitAny: unknown would refuse every annotation of what the compiler cannot read
type Unreadable = any;
