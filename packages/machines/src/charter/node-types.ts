import type { ToolSet, TurnOptions } from '@lastcall/core';
import type { AnyCommand } from './any-command.ts';
import type { Pack } from './pack.ts';

export const NODE: unique symbol = Symbol.for('lastcall.node') as never;

/** A node whose state type does not matter here. */
export interface AnyNode {
  readonly [NODE]: true;
  readonly name: string | undefined;
  readonly instructions: string | ((state: never) => string);
  readonly state: unknown;
  readonly initialState: unknown;
  readonly updateState: boolean | readonly string[] | undefined;
  readonly tools: ToolSet;
  readonly transitions: { readonly [name: string]: AnyTransition | AnyTransition['handler'] | NodeRef };
  readonly packs: readonly (Pack | string)[];
  readonly commands: { readonly [name: string]: AnyCommand | AnyCommand['execute'] };
  readonly worker: boolean;
  readonly model: TurnOptions['model'] | string | undefined;
}

/**
 * A defined node. `W` is the state as callers may pass it (fields with a default may be missing), `L` the targets of
 * its transitions and commands, `I` the fields of its initial state. The charter's type checks them.
 */
export interface Node<S = Record<string, unknown>, W = unknown, L = unknown, I = unknown> extends AnyNode {
  readonly initialState: S | undefined;
  readonly [TYPES]?: { readonly written: W; readonly leads: L; readonly initial: I };
}

declare const TYPES: unique symbol;

export function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && (value as Partial<AnyNode>)[NODE] === true;
}

/** A node, or its name in the charter. */
export type NodeRef = AnyNode | string;

/** The decision of a transition's handler. Made by `to`, `spawn`, `cede` and `suspend`. */
export type Transition =
  | To
  | Spawn
  | { readonly kind: 'cede'; readonly content: unknown }
  | { readonly kind: 'suspend'; readonly reason: unknown; readonly expiresInMs: number | undefined };

/**
 * Made by `to`. The target and the state are part of its type, so that the charter's type can check them against its
 * nodes.
 */
export interface To<R extends NodeRef = NodeRef, T = unknown> {
  readonly kind: 'to';
  readonly node: R;
  readonly state: T;
}

/** Made by `spawn`. */
export interface Spawn<C extends Spawned = Spawned> {
  readonly kind: 'spawn';
  readonly children: readonly C[];
}

export interface Spawned<R extends NodeRef = NodeRef, T = unknown> {
  readonly node: R;
  readonly state: T;
}

/** A transition whose types do not matter here, except for where it leads. */
export interface AnyTransition<R extends Transition = Transition> {
  readonly description?: string;
  readonly inputSchema?: unknown;
  readonly handler: (input: never, ctx: never) => R | Promise<R>;
  readonly targets?: readonly NodeRef[];
  readonly effects?: 'session' | 'external';
  readonly approval?: boolean | ((input: never, ctx: never) => boolean | Promise<boolean>);
  readonly timeoutMs?: number;
}
