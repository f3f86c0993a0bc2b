import type { ToolSet } from '@lastcall/core';
import type { AnyNode, Node } from './node-types.ts';
import type { Pack } from './pack.ts';
import type { Checked, CheckedShared, LeadsOf } from './target-types.ts';
import type { InferredTransition, KnownOptions, WrittenTransition } from './written-forms.ts';

/**
 * `N` is inferred from the nodes, `X` and `T` from the shared transitions. If the compiler can see that a transition
 * leads to a missing node, or passes a state that does not fit, the error appears at the node.
 */
export interface CharterDefinition<N = AnyNodes, X = Record<string, unknown>, T = unknown> {
  /** By name, or a list of nodes that each have a `name`. */
  nodes: N &
    AnyNodes &
    (N extends readonly unknown[] ? unknown : Checked<N, ExtraNames<T>> & CheckedShared<LeadsOf<T>, N, ExtraNames<T>>);
  /** Transitions of every node; a node's own transition of the same name takes precedence. */
  transitions?: T &
    KnownOptions<NoInfer<T>, keyof InferredTransition<unknown, unknown> | keyof Node> & {
      readonly [K in keyof X]: WrittenTransition<Record<string, unknown>, X[K]>;
    };
  /** Tools of every node; a tool of the same name on a nearer level takes precedence. */
  tools?: ToolSet;
  /** The packs that nodes may use. */
  packs?: readonly Pack<never>[] | readonly Pack[] | { readonly [name: string]: Pack<never> | Pack };
}

type AnyNodes = { readonly [name: string]: AnyNode } | readonly AnyNode[];

/** Inline nodes among the shared transitions are named by their keys. */
type ExtraNames<T> = unknown extends T ? never : keyof T;
