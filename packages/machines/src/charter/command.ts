import type { JsonSchemaObject } from '@lastcall/core';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Transition } from './node-types.ts';
import type { StateContext } from './state-context.ts';

/** Something the host does to an instance, without a model: `machine.command(name, input)`. */
export interface CommandDefinition<S = Record<string, unknown>, I = Record<string, unknown>, O = unknown, W = I>
  extends CommandSettings {
  /** Without one the input is an object, and not held to anything. */
  inputSchema?: StandardSchemaV1<W, I> | JsonSchemaObject;
  /** What it returns is what `machine.command` resolves with; `to`, `spawn` or `cede` change the tree. */
  execute: (input: I, ctx: StateContext<S>) => O | Transition | Promise<O | Transition>;
}

/** What a command says of itself, whatever its input is. */
export interface CommandSettings {
  description?: string;
  timeoutMs?: number;
}
