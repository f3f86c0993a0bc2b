import type { ToolSet } from '@lastcall/core';
import { CharterError } from '../errors.ts';
import type { CharterDefinition } from './charter-definition.ts';
import type { CharterParts } from './charter-parts.ts';
import { compileCharter } from './compile-charter.ts';
import type { CompiledNode, CompiledTransition } from './compiled-node.ts';
import { type AnyNode, isNode } from './node-types.ts';
import { nounFor } from './noun-for.ts';
import type { Pack } from './pack.ts';
import type { PlainObject } from './plain.ts';
import { unknownNode } from './unknown-name.ts';

/** The static registry of a machine: nodes, transitions, tools, packs. */
export interface Charter<N = unknown> {
  /** The names of its nodes, inline ones included. */
  readonly nodeNames: readonly string[];
  readonly [NODES]?: N;
}

declare const NODES: unique symbol;

/**
 * Builds a charter. Throws a CharterError that names the path if the charter cannot work: an unknown node, a reserved
 * name, a pack that is used and not registered, an initial state that violates its schema.
 *
 * Inline nodes, given as a transition or in its `targets`, are named by their `name` or else by their path
 * (`triage.escalate`), so that a stored machine finds them again. A node that only a handler returns is named when it
 * is first returned, after the transition it came from: this charter instance can restore it, and one built in another
 * process refuses it with an error. List such nodes in `targets`.
 */
export function charter<const N, const X = Record<string, unknown>, const T = unknown>(
  definition: CharterDefinition<N, X, T>,
): Charter<N> {
  return new CompiledCharter(compileCharter(definition as never));
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

  /** The node of an instance. Its existence was checked when the instance was created. */
  node(name: string): CompiledNode {
    const found = this.find(name);
    if (found === undefined) throw new CharterError('nodes', `has no node "${name}".`);
    return found;
  }

  /** Resolves a reference to a node. `path` is where the reference is; it names a node that is not registered yet. */
  resolve(reference: unknown, path: string): CompiledNode {
    if (typeof reference !== 'string') {
      if (isNode(reference)) return this.node(this.#nameOf(reference, path));
      throw new CharterError(
        path,
        `a target must come from node() or be the name of one, but ${nounFor(reference)} was given.`,
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
