import type { AnyNode, Node, Spawn, Spawned, To } from './node-types.ts';
import type { Made } from './written-forms.ts';

/** The state that a node accepts, if the reference says which node it is. */
export type StateFor<R> = R extends Node<infer _S, infer W, infer _L, infer _I> ? Frozen<W> : unknown;

/** The root itself, or the charter's names if it is none of them. Inline nodes have a dot in their names. */
export type KnownRoot<N, R> = R extends string
  ? string extends R | NamesOf<N>
    ? R
    : R extends NamesOf<N> | `${string}.${string}`
      ? R
      : NamesOf<N>
  : R;

/** The state that the root may start with. */
export type RootState<N, R> = R extends keyof N ? StateFor<N[R]> : StateFor<R>;

/** `string` if the names cannot be known: no charter type, or a list of nodes. */
type NamesOf<N> = unknown extends N ? string : N extends readonly unknown[] ? string : keyof N & string;

/**
 * The problems with the targets of a charter's nodes, in words, for the compiler to show: a name that the charter does
 * not have, or a state that does not fit its node. `unknown` if there is no problem. Names of inline nodes have a dot,
 * or are among `Extra`.
 */
export type Checked<N, Extra> = {
  readonly [K in keyof N]: [ProblemsOf<N[K], K, N, Extra>] extends [never] ? unknown : ProblemsOf<N[K], K, N, Extra>;
};

/** The problem with the transitions that all nodes share: one text, or `unknown`. */
export type CheckedShared<L, N, Extra> = [TransitionProblems<L, 'the charter', N, Extra>] extends [never]
  ? unknown
  : TransitionProblems<L, 'the charter', N, Extra>;

type ProblemsOf<M, K, N, Extra> =
  M extends Node<infer _S, infer _W, infer L, infer _I> ? TransitionProblems<L, `"${K & string}"`, N, Extra> : never;

type TransitionProblems<L, Owner extends string, N, Extra> = unknown extends L
  ? never
  : { [K in keyof L]: LeadProblem<L[K], `"${K & string}" of ${Owner}`, N, Extra> }[keyof L];

/** The targets of each transition or command, as far as the compiler can see; `unknown` if there are none. */
export type LeadsOf<T> = unknown extends T ? unknown : { readonly [K in keyof T]: LeadsOfWritten<T[K]> };

type LeadsOfWritten<V> = V extends string | AnyNode
  ? Spawned<V, undefined>
  : V extends Made<infer R>
    ? LeadsOfDecision<Awaited<R>>
    : V extends { readonly handler: infer H }
      ? LeadsOfFunction<H>
      : V extends { readonly execute: infer H }
        ? LeadsOfFunction<H>
        : LeadsOfFunction<V>;

type LeadsOfFunction<H> = H extends (...given: never) => infer R ? LeadsOfDecision<Awaited<R>> : never;
type LeadsOfDecision<R> =
  IsAny<R> extends true
    ? never
    : R extends To<infer Ref, infer T>
      ? Spawned<Ref, T>
      : R extends Spawn<infer C>
        ? C
        : never;

type LeadProblem<C, Where extends string, N, Extra> =
  C extends Spawned<infer R, infer T>
    ? R extends string
      ? NameProblem<R, T, Where, N, Extra>
      : StateProblem<R, T, Where, 'its node'>
    : never;

type NameProblem<R extends string, T, Where extends string, N, Extra> = string extends R
  ? never
  : R extends keyof N
    ? StateProblem<N[R], T, Where, `"${R}"`>
    : string extends keyof N
      ? never
      : R extends Extra | `${string}.${string}`
        ? never
        : `${Where} leads to "${R}", and the charter has no such node`;

type StateProblem<M, T, Where extends string, Name extends string> =
  M extends Node<infer _S, infer W, infer _L, infer I>
    ? unknown extends T
      ? never
      : [T] extends [undefined]
        ? NeedsState<W, I> extends true
          ? `${Where} leads to ${Name} without a state, and it has no initial one`
          : never
        : [Exclude<T, undefined>] extends [Frozen<W>]
          ? never
          : `${Where} leads to ${Name} with a state that does not fit`
    : never;

type NeedsState<W, I> = [I] extends [undefined] ? (Record<never, never> extends W ? false : true) : false;

/** Deeply readonly: a state is only read here, so a readonly list fits a writable one. */
type Frozen<T> = IsAny<T> extends true ? T : T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T;

type IsAny<T> = 0 extends 1 & T ? true : false;
