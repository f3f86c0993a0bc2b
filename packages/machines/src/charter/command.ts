import type { JsonSchemaObject } from '@lastcall/core';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Transition } from './node-types.ts';
import type { StateContext } from './state-context.ts';

/** Something the host does to an instance, without a model: `machine.command(name, input)`. */
export interface CommandDefinition<S = Record<string, unknown>, I = Record<string, unknown>, O = unknown, W = I>
  extends CommandSettings {
  /** Without a schema the input is an object that is not validated. */
  inputSchema?: StandardSchemaV1<W, I> | JsonSchemaObject;
  /** `machine.command` resolves with its return value; `to`, `spawn` or `cede` change the tree. */
  execute: (input: I, ctx: StateContext<S>) => O | Transition | Promise<O | Transition>;
}

/** The options of a command that do not depend on its input. */
export interface CommandSettings {
  description?: string;
  timeoutMs?: number;
}
