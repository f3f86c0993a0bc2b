import type { ToolSet } from '@lastcall/core';
import type { AnyCommand, CommandDefinition } from './command.ts';
import { CharterError } from './errors.ts';
import type { Pack } from './pack.ts';
import { type StateToolMaker, stateTool } from './state-context.ts';
import type { StateSchema } from './state-schema.ts';
import type { AnyTransition, NodeRef, TransitionDefinition } from './transition.ts';
import type { WrittenCommand, WrittenTransition } from './written-forms.ts';

/** A state of an agent: what it is told, what it knows, what it can do and where it can go. */
export interface NodeDefinition<S> {
  /** If given, it must equal the key in the charter. Of a node that stands inline it is the name. */
  name?: string;
  /** As a function it is asked at each step. A text is followed by the state as JSON, where there is state. */
  instructions: string | ((state: Readonly<NoInfer<S>>) => string);
  /** The shape of its state: an object of fields. Without it the node has none. */
  state?: StateSchema<S>;
  /** Default: what the schema makes of `{}`. */
  initialState?: NoInfer<S>;
  /**
   * Which fields of its state the model may write, with the built-in tool `updateState`: all (`true`), none (`false`) or
   * those in the list. Default `true`, where there is state. Tools, handlers and commands write by `ctx.updateState`
   * and are not held to it.
   */
  updateState?: boolean | readonly (keyof NoInfer<S> & string)[];
  /** A tool set, or a function that is given a maker of tools whose `ctx.state` is typed. */
  tools?: ToolSet | ((tool: StateToolMaker<NoInfer<S>>) => ToolSet);
  /** By name. A node in the place of a definition is a transition to it, without arguments; a function is a handler. */
  transitions?: Transitions<NoInfer<S>> | ((transition: TransitionMaker<NoInfer<S>>) => Transitions<NoInfer<S>>);
  /** Packs it uses, or their names. Workers have none. */
  packs?: readonly (Pack<never> | string)[] | readonly (Pack | string)[];
  /** By name. A function in the place of a definition is what it executes. */
  commands?: Commands<NoInfer<S>> | ((command: CommandMaker<NoInfer<S>>) => Commands<NoInfer<S>>);
  /** Its instances never talk with the user: they work beside whoever does, and cede what they come to. */
  worker?: boolean;
}

type Transitions<S> = { readonly [name: string]: WrittenTransition<S> | NodeRef };
type Commands<S> = { readonly [name: string]: WrittenCommand<S> };

/** Infers the input of a transition from its schema. */
export type TransitionMaker<S> = <I = Record<string, unknown>, W = I>(
  definition: TransitionDefinition<S, I, W>,
) => AnyTransition;

/** Infers the input of a command from its schema. */
export type CommandMaker<S> = <I = Record<string, unknown>, O = unknown, W = I>(
  definition: CommandDefinition<S, I, O, W>,
) => AnyCommand;

/** A node whose state's type does not matter here. */
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
}

/** A defined node. */
export interface Node<S = Record<string, unknown>> extends AnyNode {
  readonly initialState: S | undefined;
}

const NODE: unique symbol = Symbol.for('lastcall.node') as never;

/**
 * Defines a node. The charter checks it when it is built.
 *
 * `transitions` and `commands` may be given as functions of a maker, which infers the types of inputs from their schemas.
 */
export function node<S = Record<string, never>>(definition: NodeDefinition<S>): Node<S> {
  if (typeof definition !== 'object' || definition === null)
    throw new CharterError('node', 'must be given a definition: node({ instructions, … }).');
  const { tools = {}, transitions = {}, commands = {}, packs = [] } = definition;
  return Object.freeze({
    [NODE]: true as const,
    name: definition.name,
    instructions: definition.instructions as AnyNode['instructions'],
    state: definition.state,
    initialState: definition.initialState as S | undefined,
    updateState: definition.updateState,
    tools: typeof tools === 'function' ? tools(stateTool<S>()) : tools,
    transitions: (typeof transitions === 'function' ? transitions(asItIs) : transitions) as AnyNode['transitions'],
    packs: packs as AnyNode['packs'],
    commands: (typeof commands === 'function' ? commands(asItIs) : commands) as AnyNode['commands'],
    worker: definition.worker ?? false,
  });
}

export function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && (value as Partial<AnyNode>)[NODE] === true;
}

/** The makers are for the types: a definition is its own value. */
function asItIs<D, A>(definition: D): A {
  return definition as unknown as A;
}
