import type { ToolSet } from '@lastcall/core';
import { CharterError } from '../errors.ts';
import { compileCharter } from './compile-charter.ts';
import type { CompiledNode, CompiledTransition } from './compiled-node.ts';
import { type AnyNode, isNode, type Node } from './node.ts';
import { nounFor } from './noun-for.ts';
import type { Pack } from './pack.ts';
import type { PlainObject } from './plain.ts';
import type { Checked, CheckedShared, LeadsOf } from './target-types.ts';
import { unknownNode } from './unknown-name.ts';
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

/** The static registry of a machine: nodes, transitions, tools, packs. */
export interface Charter<N = unknown> {
  /** The names of its nodes, inline ones included. */
  readonly nodeNames: readonly string[];
  readonly [NODES]?: N;
}

declare const NODES: unique symbol;

/**
 * Builds a charter. Refuses one that cannot work with a CharterError that names the path: an unknown node, a reserved
 * name, a pack that is used and not registered, an initial state against its schema.
 *
 * Nodes that stand inline, in the place of a transition or among its `targets`, are named by their
 * `name` or else by their path (`triage.escalate`), so that a stored machine finds them again. A node that only a handler knows is named when it is
 * first met, by the transition it came from: this very charter restores it, and one built in another process refuses it,
 * saying so. List such nodes in `targets`.
 */
export function charter<const N, const X = Record<string, unknown>, const T = unknown>(
  definition: CharterDefinition<N, X, T>,
): Charter<N> {
  return new CompiledCharter(compileCharter(definition as never));
}

export interface CharterParts {
  readonly nodes: Map<string, CompiledNode>;
  readonly names: Map<AnyNode, string>;
  readonly transitions: ReadonlyMap<string, CompiledTransition>;
  readonly tools: ToolSet;
  readonly packs: ReadonlyMap<string, Pack>;
  readonly packStates: { readonly [name: string]: PlainObject };
  /** Gives a node met at run time a name, and checks it. */
  readonly adopt: (node: AnyNode, path: string) => string;
}

export class CompiledCharter implements Charter {
  readonly #parts: CharterParts;

  constructor(parts: CharterParts) {
    this.#parts = parts;
  }

  static of(charter: Charter): CompiledCharter {
    if (charter instanceof CompiledCharter) return charter;
    throw new CharterError('charter', 'must come from charter({ nodes, … }).');
  }

  get nodeNames(): readonly string[] {
    return [...this.#parts.nodes.keys()];
  }

  get transitions(): ReadonlyMap<string, CompiledTransition> {
    return this.#parts.transitions;
  }

  get tools(): ToolSet {
    return this.#parts.tools;
  }

  get packs(): ReadonlyMap<string, Pack> {
    return this.#parts.packs;
  }

  get packStates(): { readonly [name: string]: PlainObject } {
    return this.#parts.packStates;
  }

  find(name: string): CompiledNode | undefined {
    return this.#parts.nodes.get(name);
  }

  /** The node of an instance: that it is there was checked when the instance came to be. */
  node(name: string): CompiledNode {
    const found = this.find(name);
    if (found === undefined) throw new CharterError('nodes', `has no node "${name}".`);
    return found;
  }

  /** What a reference means. `path` is where it stands, for a node that nobody has met yet. */
  resolve(reference: unknown, path: string): CompiledNode {
    if (typeof reference !== 'string') {
      if (isNode(reference)) return this.node(this.#nameOf(reference, path));
      throw new CharterError(
        path,
        `a target must come from node() or be the name of one, and ${nounFor(reference)} came.`,
      );
    }
    const found = this.find(reference);
    if (found !== undefined) return found;
    throw new CharterError(path, unknownNode(reference, this.nodeNames));
  }

  #nameOf(node: unknown, path: string): string {
    return this.#parts.names.get(node as AnyNode) ?? this.#parts.adopt(node as AnyNode, path);
  }
}
