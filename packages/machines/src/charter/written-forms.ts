import type { AnyCommand } from './any-command.ts';
import type { CommandSettings } from './command.ts';
import type { AnyTransition, NodeRef, Transition } from './node-types.ts';
import type { AnySchema, ParsedBy } from './schema-types.ts';
import type { StateContext } from './state-context.ts';
import type { TransitionOptions } from './transition-options.ts';

/** The input of a transition, as its schema parses it. Without a schema there are no arguments. */
type InputOf<Q> = ParsedBy<Q, Record<string, unknown>>;

// These are methods, so that a function without a schema may annotate its input: the input is not validated, and the
// annotation is the author's claim.
interface Unheld<S> {
  handler(input: Record<string, unknown>, ctx: StateContext<S>): Transition | Promise<Transition>;
  execute(input: Record<string, unknown>, ctx: StateContext<S>): unknown;
}

/** A transition as written in a node; `Q` is the type of its schema. */
export interface InferredTransition<S, Q, R extends Transition = Transition> extends TransitionOptions {
  /** Default: no arguments. */
  inputSchema?: Q & AnySchema;
  handler: (input: InputOf<Q>, ctx: StateContext<S>) => R | Promise<R>;
  approval?: boolean | ((input: InputOf<Q>, ctx: StateContext<S>) => boolean | Promise<boolean>);
}

/** A command as written in a node; `Q` is the type of its schema. */
export interface InferredCommand<S, Q, O = unknown> extends CommandSettings {
  /** Without a schema the input is an object that is not validated. */
  inputSchema?: Q & AnySchema;
  execute: unknown extends Q ? Unheld<S>['execute'] : (input: InputOf<Q>, ctx: StateContext<S>) => O;
}

/**
 * Intersected with the written definition. Inference hides from the compiler that a key is not among the `Known`, so
 * without this a misspelt option would go unnoticed.
 */
export type KnownOptions<T, Known> = { readonly [K in keyof T]: KnownKeys<T[K], Known> };
type KnownKeys<V, Known> = { readonly [P in keyof V]: P extends Known ? unknown : NoSuchOption };

/** The type of an option that does not exist. */
interface NoSuchOption {
  readonly [NONE]: true;
}

declare const NONE: unique symbol;

/** A transition as users may write it: a definition, only its handler, or the node it leads to. */
// `& object` makes the definition the last of the union, and the compiler then says of a wrong one what is wrong with it.
export type WrittenTransition<S, Q = unknown> =
  | NodeRef
  | Made<Transition>
  | Unheld<S>['handler']
  | (InferredTransition<S, Q> & object);

/** A command as users may write it: a definition, or only its `execute`. */
export type WrittenCommand<S, Q = unknown> = Made | Unheld<S>['execute'] | (InferredCommand<S, Q> & object);

/** The result of a maker: opaque, because its input type was inferred already. `R` is what its function returns. */
export interface Made<R = unknown> {
  readonly [MADE]: R;
}

declare const MADE: unique symbol;

/** Accepts any input: only the function itself knows what it takes. */
const ANY_INPUT = { type: 'object', additionalProperties: true } as const;

/**
 * Reads a definition. Tools and commands have an `execute` and transitions a `handler`. If an author uses the other
 * name, the intent is clear, so both are accepted.
 */
export function readTransition(given: object): Partial<AnyTransition> {
  if (typeof given === 'function') return { handler: given as AnyTransition['handler'], inputSchema: ANY_INPUT };
  const { execute } = given as { execute?: AnyTransition['handler'] };
  return 'handler' in given || execute === undefined ? given : { ...given, handler: execute };
}

/** A command without a schema accepts any input from the host. */
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
