import type { JsonSchemaObject } from '@lastcall/core';
import { assertKnownOptions, type KnownNames, knownNames } from '@lastcall/core/internal';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { DECISION, decisionKind } from './decision-mark.ts';
import type { NodeRef, Spawn, Spawned, To, Transition } from './node-types.ts';
import type { StateContext } from './state-context.ts';
import type { StateFor } from './target-types.ts';
import type { TransitionOptions } from './transition-options.ts';

/**
 * A way out of a node that the model may take. It is a tool named `transition_<name>`, and is also found by its plain
 * name if no tool has that name. It runs after all other calls of its batch, on the state they left. If its handler
 * throws, or its decision does not fit, the model sees an error and the tree is unchanged.
 */
export interface TransitionDefinition<S = Record<string, unknown>, I = Record<string, unknown>, W = I>
  extends TransitionOptions {
  /** Default: no arguments. */
  inputSchema?: StandardSchemaV1<W, I> | JsonSchemaObject;
  handler: (input: I, ctx: StateContext<S>) => Transition | Promise<Transition>;
  approval?: boolean | ((input: I, ctx: StateContext<S>) => boolean | Promise<boolean>);
}

/** The instance keeps its place and becomes another node, with that node's initial state unless one is given. */
export function to<const R extends NodeRef, const T extends StateFor<R> | undefined = undefined>(
  node: R,
  state?: T,
): To<NoInfer<R>, NoInfer<T>> {
  return made({ kind: 'to', node, state: state as T }) as To<NoInfer<R>, NoInfer<T>>;
}

/**
 * Adds children: one node with its state, or several, each a node or `{ node, state }`. The instance acts again when
 * the last of them has ceded. At most one child may be a non-worker; it talks with the user meanwhile.
 */
export function spawn<
  const R extends NodeRef | readonly (NodeRef | { readonly node: NodeRef; readonly state?: unknown })[],
  const T extends StateFor<R> | undefined = undefined,
>(node: R, state?: T): Spawn<ChildrenOf<R, NoInfer<T>>> {
  const list: readonly unknown[] = Array.isArray(node) ? node : [node];
  const children = list.map((one) => (isSpawned(one) ? one : { node: one, state }));
  return made({ kind: 'spawn', children: children as ChildrenOf<R, NoInfer<T>>[] });
}

type ChildrenOf<R, T> = R extends readonly (infer E)[] ? ChildOf<E, T> : ChildOf<R, T>;
type ChildOf<E, T> = E extends NodeRef
  ? Spawned<E, T>
  : E extends { readonly node: infer R extends NodeRef }
    ? Spawned<R, E extends { readonly state: infer U } ? U : undefined>
    : never;

/** The instance is done: it is removed, and its parent receives the content and where it came from. */
export function cede(content?: unknown): Extract<Transition, { kind: 'cede' }> {
  return made({ kind: 'cede', content });
}

/** The call waits; `machine.resume(id, payload)` gives its result. The reason is shown with the id. */
export function suspend(reason?: unknown, options?: SuspendOptions): Extract<Transition, { kind: 'suspend' }> {
  assertKnownOptions(options ?? undefined, OPTIONS);
  return made({ kind: 'suspend', reason, expiresInMs: options?.expiresInMs });
}

interface SuspendOptions {
  expiresInMs?: number;
}

const OPTIONS: KnownNames = knownNames<SuspendOptions>({ expiresInMs: true });

export function isTransition(value: unknown): value is Transition {
  return decisionKind(value) !== undefined;
}

function made<T extends object>(transition: T): T {
  return Object.freeze({ ...transition, [DECISION]: true });
}

function isSpawned(one: unknown): one is Spawned {
  return typeof one === 'object' && one !== null && 'node' in one;
}
