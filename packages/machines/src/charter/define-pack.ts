import type { JsonSchemaObject, ToolSet } from '@lastcall/core';
import { assertKnownOptions, type KnownNames, knownNames } from '@lastcall/core/internal';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { CharterError } from '../errors.ts';
import type { Pack } from './pack.ts';
import type { ParsedBy, StateOf } from './schema-types.ts';
import { type StateToolMaker, stateTool } from './state-context.ts';

/**
 * State and tools that nodes share. The state is kept at the root: every node that uses the pack sees the same. `S` is
 * the state, or it is inferred from the schema, `Q`.
 */
export interface PackDefinition<S, Q = unknown> {
  name: string;
  state: Q & (StandardSchemaV1<unknown, S> | JsonSchemaObject);
  /** Default: the schema's result for `{}`. */
  initialState?: StateOf<S, Q>;
  /** A tool set, or a function that receives a maker of tools whose `ctx.state` is the pack's. */
  tools?: ToolSet | ((tool: StateToolMaker<StateOf<S, Q>>) => ToolSet);
  /** Appended to the instructions of the nodes that use the pack. */
  instructions?: string | ((state: Readonly<StateOf<S, Q>>) => string);
}

/** Defines a pack. A node can list it once the charter lists it. */
export function pack<S, const Q = unknown>(definition: PackDefinition<S, Q>): Pack<ParsedBy<Q, S>> {
  assertKnownOptions(definition ?? undefined, OPTIONS);
  const { name, state, initialState, tools = {}, instructions } = definition ?? {};
  // "__proto__" is refused, because an object of pack states by name could not store it.
  if (typeof name !== 'string' || !/^(?!__proto__$)[\w-]{1,64}$/.test(name))
    throw new CharterError('pack.name', `must be 1–64 letters, digits, "_" or "-", not ${JSON.stringify(name)}.`);
  if (state === undefined) throw new CharterError(`pack.${name}.state`, 'must be a schema.');
  return Object.freeze({
    name,
    state,
    initialState,
    tools: typeof tools === 'function' ? tools(stateTool()) : tools,
    instructions: instructions as Pack['instructions'],
  });
}

const OPTIONS: KnownNames = knownNames<PackDefinition<unknown>>(
  { name: true, state: true, initialState: true, tools: true, instructions: true },
  { schema: 'state' },
);
