import type { AnyCommand } from './any-command.ts';
import type { CommandSettings } from './command.ts';
import type { AnyTransition, NodeRef, Transition } from './node-types.ts';
import type { AnySchema, ParsedBy } from './schema-types.ts';
import type { StateContext } from './state-context.ts';
import type { TransitionOptions } from './transition-options.ts';

/** What a transition is given: as its schema parses it. Without a schema there are no arguments. */
type InputOf<Q> = ParsedBy<Q, Record<string, unknown>>;

// Methods, so that a function without a schema may name the input it takes: nothing holds the input to anything, and so
// the annotation is the author's word.
interface Unheld<S> {
  handler(input: Record<string, unknown>, ctx: StateContext<S>): Transition | Promise<Transition>;
  execute(input: Record<string, unknown>, ctx: StateContext<S>): unknown;
}

/** A transition as a node states it, `Q` being the type of its schema. */
export interface InferredTransition<S, Q, R extends Transition = Transition> extends TransitionOptions {
  /** Default: no arguments. */
  inputSchema?: Q & AnySchema;
  handler: (input: InputOf<Q>, ctx: StateContext<S>) => R | Promise<R>;
  approval?: boolean | ((input: InputOf<Q>, ctx: StateContext<S>) => boolean | Promise<boolean>);
}

/** A command as a node states it, `Q` being the type of its schema. */
export interface InferredCommand<S, Q, O = unknown> extends CommandSettings {
  /** Without one the input is an object, and not held to anything. */
  inputSchema?: Q & AnySchema;
  execute: unknown extends Q ? Unheld<S>['execute'] : (input: InputOf<Q>, ctx: StateContext<S>) => O;
}

/**
 * For an intersection with what was written, whose capture hides from the compiler that a key is none of the `Known`: a
 * misspelt option would go unseen.
 */
export type KnownOptions<T, Known> = { readonly [K in keyof T]: KnownKeys<T[K], Known> };
type KnownKeys<V, Known> = { readonly [P in keyof V]: P extends Known ? unknown : NoSuchOption };

/** The type of an option that does not exist. */
interface NoSuchOption {
  readonly [NONE]: true;
}

declare const NONE: unique symbol;

/** What may stand among the transitions: a definition, its handler alone, or the node it leads to. */
// `& object` makes the definition the last of the union, and the compiler then says of a wrong one what is wrong with it.
export type WrittenTransition<S, Q = unknown> =
  | NodeRef
  | Made<Transition>
  | Unheld<S>['handler']
  | (InferredTransition<S, Q> & object);

/** What may stand among the commands: a definition, or what it executes alone. */
export type WrittenCommand<S, Q = unknown> = Made | Unheld<S>['execute'] | (InferredCommand<S, Q> & object);

/** What a maker makes of a definition: opaque, because its input was inferred already. `R` is what its function returns. */
export interface Made<R = unknown> {
  readonly [MADE]: R;
}

declare const MADE: unique symbol;

/** Whatever it is given: only the function itself knows. */
const ANY_INPUT = { type: 'object', additionalProperties: true } as const;

/**
 * The definition that was meant. Tools and commands have an `execute` and transitions a `handler`: whoever takes one for
 * the other has said clearly enough what is to run.
 */
export function readTransition(given: object): Partial<AnyTransition> {
  if (typeof given === 'function') return { handler: given as AnyTransition['handler'], inputSchema: ANY_INPUT };
  const { execute } = given as { execute?: AnyTransition['handler'] };
  return 'handler' in given || execute === undefined ? given : { ...given, handler: execute };
}

/** What the host gives a command without a schema is not held to one. */
export function readCommand(given: object): Partial<AnyCommand> {
  if (typeof given === 'function') return { execute: given as AnyCommand['execute'], inputSchema: ANY_INPUT };
  const {
    handler,
    execute = handler,
    inputSchema = ANY_INPUT,
    ...rest
  } = given as Partial<AnyCommand> & {
    handler?: AnyCommand['execute'];
  };
  return { ...rest, inputSchema, ...(execute === undefined ? {} : { execute }) };
}
