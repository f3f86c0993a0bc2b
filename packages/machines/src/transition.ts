import type { JsonSchemaObject } from '@lastcall/core';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { DECISION, decisionKind } from './decision-mark.ts';
import type { AnyNode } from './node.ts';
import type { StateContext } from './state-context.ts';

/** A node, or the name under which the charter knows it. */
export type NodeRef = AnyNode | string;

/** What a transition's handler decides. Made by `to`, `spawn`, `cede` and `suspend`. */
export type Transition =
  | { readonly kind: 'to'; readonly node: NodeRef; readonly state: unknown }
  | { readonly kind: 'spawn'; readonly children: readonly Spawned[] }
  | { readonly kind: 'cede'; readonly content: unknown }
  | { readonly kind: 'suspend'; readonly reason: unknown; readonly expiresInMs: number | undefined };

interface Spawned {
  readonly node: NodeRef;
  readonly state: unknown;
}

/**
 * A way out of a node that the model may take: a tool named `transition_<name>`, and found by its plain
 * name too, where no tool has it. It runs after all other calls of its
 * batch, on the state they left; where its handler throws, or what it decides does not fit, the model reads an error and
 * the tree stays as it was.
 */
export interface TransitionDefinition<S = Record<string, unknown>, I = Record<string, unknown>, W = I> {
  /** 1–200 characters. Default: its name, and where it leads if that is known. */
  description?: string;
  /** Default: no arguments. */
  inputSchema?: StandardSchemaV1<W, I> | JsonSchemaObject;
  handler: (input: I, ctx: StateContext<S>) => Transition | Promise<Transition>;
  /** The nodes it may lead to, where they are known: they are checked when the charter is built, drawn, and restored. */
  targets?: readonly NodeRef[];
  /** Whether the handler acts outside the machine. Default 'session': it may run again after a crash. */
  effects?: 'session' | 'external';
  approval?: boolean | ((input: I, ctx: StateContext<S>) => boolean | Promise<boolean>);
  timeoutMs?: number;
}

/** A transition whose types do not matter here. */
export interface AnyTransition {
  readonly description?: string;
  readonly inputSchema?: unknown;
  readonly handler: (input: never, ctx: never) => Transition | Promise<Transition>;
  readonly targets?: readonly NodeRef[];
  readonly effects?: 'session' | 'external';
  readonly approval?: boolean | ((input: never, ctx: never) => boolean | Promise<boolean>);
  readonly timeoutMs?: number;
}

/** The instance stays where it is and becomes another node, with that node's initial state unless one is given. */
export function to(node: NodeRef, state?: unknown): Transition {
  return made({ kind: 'to', node, state });
}

/**
 * Adds children: one node with its state, or several, each a node or `{ node, state }`. The instance acts again when the
 * last of them has ceded. At most one child may be no worker: it talks with the user meanwhile.
 */
export function spawn(
  node: NodeRef | readonly (NodeRef | { readonly node: NodeRef; readonly state?: unknown })[],
  state?: unknown,
): Transition {
  const list = Array.isArray(node) ? (node as readonly (NodeRef | Spawned)[]) : [node as NodeRef];
  return made({ kind: 'spawn', children: list.map((one) => (isSpawned(one) ? one : { node: one, state })) });
}

/** The instance is done: it is removed, and its parent is told the content and where it came from. */
export function cede(content?: unknown): Transition {
  return made({ kind: 'cede', content });
}

/** The call waits: its result is what `machine.resume(id, payload)` gives. The reason is shown with the id. */
export function suspend(reason?: unknown, options: { expiresInMs?: number } = {}): Transition {
  return made({ kind: 'suspend', reason, expiresInMs: options.expiresInMs });
}

export function isTransition(value: unknown): value is Transition {
  return decisionKind(value) !== undefined;
}

function made(transition: Transition): Transition {
  return Object.freeze({ ...transition, [DECISION]: true });
}

function isSpawned(one: NodeRef | Spawned): one is Spawned {
  return typeof one === 'object' && one !== null && 'node' in one;
}
