import type { ToolSet } from '@lastcall/core';
import { CharterError } from './errors.ts';
import { type StateToolMaker, stateTool } from './state-context.ts';
import type { StateSchema } from './state-schema.ts';

/** State and tools that nodes share. The state lives at the root: every node that uses the pack sees the same. */
export interface PackDefinition<S> {
  name: string;
  state: StateSchema<S>;
  initialState: NoInfer<S>;
  /** A tool set, or a function that is given a maker of tools whose `ctx.state` is the pack's. */
  tools?: ToolSet | ((tool: StateToolMaker<NoInfer<S>>) => ToolSet);
  /** Joined to the instructions of the nodes that use it. */
  instructions?: string | ((state: Readonly<NoInfer<S>>) => string);
}

/** A checked pack. */
export interface Pack<S = unknown> {
  readonly name: string;
  readonly state: unknown;
  readonly initialState: S;
  readonly tools: ToolSet;
  readonly instructions: string | ((state: never) => string) | undefined;
}

/** Defines a pack. It is used by nodes that list it, once the charter does. */
export function pack<S>(definition: PackDefinition<S>): Pack<S> {
  const { name, state, initialState, tools = {}, instructions } = definition ?? {};
  // That one name would be lost wherever pack states are kept by name, in JSON too.
  if (typeof name !== 'string' || !/^(?!__proto__$)[\w-]{1,64}$/.test(name))
    throw new CharterError('pack.name', `must be 1–64 letters, digits, "_" or "-", not ${JSON.stringify(name)}.`);
  if (state === undefined) throw new CharterError(`pack.${name}.state`, 'must be a schema.');
  return Object.freeze({
    name,
    state,
    initialState,
    tools: typeof tools === 'function' ? tools(stateTool<S>()) : tools,
    instructions: instructions as Pack<S>['instructions'],
  });
}
