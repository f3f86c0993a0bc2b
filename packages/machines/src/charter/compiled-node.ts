import type { ToolSet } from '@lastcall/core';
import type { AnyCommand } from './any-command.ts';
import type { AnyNode, AnyTransition } from './node-types.ts';
import type { Pack } from './pack.ts';
import type { PlainObject } from './plain.ts';
import type { Writable } from './writable-fields.ts';

/** A node as the charter holds it: named, checked, its references resolved. */
export interface CompiledNode {
  readonly name: string;
  /** Its path in the charter. */
  readonly path: string;
  readonly definition: AnyNode;
  readonly worker: boolean;
  readonly hasState: boolean;
  /** Undefined if the schema does not accept `{}`: then a transition to the node must pass a state. */
  readonly initialState: PlainObject | undefined;
  /** Which fields the model may write. */
  readonly writable: Writable;
  readonly tools: ToolSet;
  readonly transitions: ReadonlyMap<string, CompiledTransition>;
  readonly packs: readonly Pack[];
  readonly commands: ReadonlyMap<string, AnyCommand>;
}

export interface CompiledTransition {
  readonly name: string;
  /** Its path in the charter. */
  readonly path: string;
  readonly definition: AnyTransition & { readonly description: string };
  /** The names of the nodes it is known to lead to. */
  readonly targets: readonly string[];
}
