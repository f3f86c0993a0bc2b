import type { JsonSchemaObject, ToolSet, TurnOptions } from '@lastcall/core';
import { assertKnownOptions, type KnownNames, knownNames } from '@lastcall/core/internal';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { CharterError } from '../errors.ts';
import type { Transition } from './node-types.ts';
import { type AnyNode, NODE, type Node } from './node-types.ts';
import type { Pack } from './pack.ts';
import type { ParsedBy, StateOf, WrittenFor } from './schema-types.ts';
import { type StateToolMaker, stateTool } from './state-context.ts';
import type { LeadsOf } from './target-types.ts';
import type {
  InferredCommand,
  InferredTransition,
  KnownOptions,
  Made,
  WrittenCommand,
  WrittenTransition,
} from './written-forms.ts';

/**
 * A state of an agent: its instructions, its data, its tools and its transitions.
 *
 * `S` is its state. The others are inferred: `Q` is the state's schema, `I` has the fields of the initial state, `X`
 * and `Y` are the schemas of transitions and commands, `T` and `C` the transitions and commands themselves.
 */
export interface NodeDefinition<S, Q = unknown, I = unknown, X = AnySchemas, T = unknown, Y = AnySchemas, C = unknown> {
  /** If given, it must equal the key in the charter. It names an inline node. */
  name?: string;
  /** A function is called at each step. A text is followed by the state as JSON, if there is state. */
  instructions: string | ((state: Readonly<StateOf<S, Q>>) => string);
  /** The schema of its state: an object of fields. Without it the node has no state. */
  state?: Q & (StandardSchemaV1<unknown, S> | JsonSchemaObject);
  /** Default: the schema's result for `{}`. */
  initialState?: StateOf<S, Q> & {
    [K in keyof I]: K extends keyof StateOf<S, Q> ? unknown : 'The state has no such field';
  };
  /**
   * Which fields of its state the model may write, with the built-in tool `updateState`: all (`true`), none (`false`)
   * or those in the list. Default `true`, if there is state. Tools, handlers and commands write with `ctx.updateState`,
   * which this option does not restrict.
   */
  updateState?: boolean | readonly (keyof StateOf<S, Q> & string)[];
  /** A tool set, or a function that receives a maker of tools whose `ctx.state` is typed. */
  tools?: ToolSet | ((tool: StateToolMaker<StateOf<S, Q>>) => ToolSet);
  /** By name. A node in place of a definition is a transition to it, without arguments; a function is a handler. */
  transitions?:
    | (T &
        KnownOptions<NoInfer<T>, keyof InferredTransition<S, Q> | keyof Node> & {
          readonly [K in keyof X]: WrittenTransition<StateOf<S, Q>, X[K]>;
        })
    | ((transition: TransitionMaker<StateOf<S, Q>>) => { readonly [name: string]: WrittenTransition<StateOf<S, Q>> });
  /** Packs it uses, or their names. Workers have none. */
  packs?: readonly (Pack<never> | string)[] | readonly (Pack | string)[];
  /** By name. A function in place of a definition is its `execute`. */
  commands?:
    | (C &
        KnownOptions<NoInfer<C>, keyof InferredCommand<S, Q>> & {
          readonly [K in keyof Y]: WrittenCommand<StateOf<S, Q>, Y[K]>;
        })
    | ((command: CommandMaker<StateOf<S, Q>>) => { readonly [name: string]: WrittenCommand<StateOf<S, Q>> });
  /**
   * Its instances never talk with the user. They work in parallel with the instance that does, and cede their results.
   */
  worker?: boolean;
  /**
   * The model of its instances, or its name: then the `model` of the run must be a function, which gets the name as
   * `leaf.model`. Default: the model of the run.
   */
  model?: TurnOptions['model'] | string;
}

/** Schemas by name; nothing is known about them. */
type AnySchemas = Record<string, unknown>;

/** Infers the input of a transition from its schema. */
export type TransitionMaker<S> = <const Q = unknown, const R extends Transition = Transition>(
  definition: InferredTransition<S, Q, R>,
) => Made<R>;

/** Infers the input of a command from its schema. */
export type CommandMaker<S> = <const Q = unknown, O = unknown>(definition: InferredCommand<S, Q, O>) => Made<O>;

/** The definitions, also if a function of a maker returns them. */
type Given<T> = T extends (maker: never) => infer R ? R : T;

/**
 * Defines a node. The charter checks it when it is built.
 *
 * `transitions` and `commands` may be given as functions of a maker, which infers the types of inputs from their schemas.
 */
export function node<
  S = Record<string, never>,
  const Q = unknown,
  const I = undefined,
  const X = AnySchemas,
  const T = unknown,
  const Y = AnySchemas,
  const C = unknown,
>(
  definition: NodeDefinition<S, Q, I, X, T, Y, C>,
): Node<ParsedBy<Q, S>, WrittenFor<Q, S>, LeadsOf<Given<T>> & LeadsOf<Given<C>>, I> {
  if (typeof definition !== 'object' || definition === null)
    throw new CharterError('node', 'must be given a definition: node({ instructions, … }).');
  assertKnownOptions(definition, OPTIONS);
  const { tools = {}, transitions = {}, commands = {}, packs = [] } = definition;
  return Object.freeze({
    [NODE]: true as const,
    name: definition.name,
    instructions: definition.instructions as AnyNode['instructions'],
    state: definition.state,
    initialState: definition.initialState as ParsedBy<Q, S> | undefined,
    updateState: definition.updateState,
    tools: typeof tools === 'function' ? tools(stateTool()) : tools,
    transitions: (typeof transitions === 'function'
      ? transitions(identity as never)
      : transitions) as AnyNode['transitions'],
    packs: packs as AnyNode['packs'],
    commands: (typeof commands === 'function' ? commands(identity as never) : commands) as AnyNode['commands'],
    worker: definition.worker ?? false,
    model: definition.model,
  });
}

const OPTIONS: KnownNames = knownNames<NodeDefinition<unknown>>(
  {
    name: true,
    instructions: true,
    state: true,
    initialState: true,
    updateState: true,
    tools: true,
    transitions: true,
    packs: true,
    commands: true,
    worker: true,
    model: true,
  },
  { system: 'instructions', prompt: 'instructions', schema: 'state' },
);

/** The makers exist for the types: they return the definition unchanged. */
function identity<D, A>(definition: D): A {
  return definition as unknown as A;
}
