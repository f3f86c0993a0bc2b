import type { ToolSet } from '@lastcall/core';
import type { AnyNode, Node } from './node-types.ts';
import type { Pack } from './pack.ts';
import type { Checked, CheckedShared, LeadsOf } from './target-types.ts';
import type { InferredTransition, KnownOptions, WrittenTransition } from './written-forms.ts';

/**
 * `N` is inferred from the nodes, `X` and `T` from the shared transitions. Where the compiler can see that a transition
 * leads to a node that is not there, or brings a state that does not fit, it says so at the node.
 */
export interface CharterDefinition<N = AnyNodes, X = Record<string, unknown>, T = unknown> {
  /** By name; or a list of nodes that have a `name` of their own. */
  nodes: N &
    AnyNodes &
    (N extends readonly unknown[] ? unknown : Checked<N, ExtraNames<T>> & CheckedShared<LeadsOf<T>, N, ExtraNames<T>>);
  /** Transitions of every node; a node's own of the same name outranks one. */
  transitions?: T &
    KnownOptions<NoInfer<T>, keyof InferredTransition<unknown, unknown> | keyof Node> & {
      readonly [K in keyof X]: WrittenTransition<Record<string, unknown>, X[K]>;
    };
  /** Tools of every node; a nearer one of the same name outranks one. */
  tools?: ToolSet;
  /** The packs that nodes may use. */
  packs?: readonly Pack<never>[] | readonly Pack[] | { readonly [name: string]: Pack<never> | Pack };
}

type AnyNodes = { readonly [name: string]: AnyNode } | readonly AnyNode[];

/** Nodes that stand inline among the shared transitions are named by them. */
type ExtraNames<T> = unknown extends T ? never : keyof T;
