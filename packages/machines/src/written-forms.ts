import type { AnyCommand } from './command.ts';
import type { StateContext } from './state-context.ts';
import type { AnyTransition, Transition } from './transition.ts';

// Methods, so that a handler may name the exact input it takes: `({ reason }: { reason: string }, ctx) => …`.
interface Handling<S> {
  handler(input: Record<string, unknown>, ctx: StateContext<S>): Transition | Promise<Transition>;
}

interface Executing<S> {
  execute(input: Record<string, unknown>, ctx: StateContext<S>): unknown;
}

/** A transition as a node states it: its definition, or its handler alone. */
export type WrittenTransition<S> = (Omit<AnyTransition, 'handler'> & Handling<S>) | Handling<S>['handler'];

/** A command as a node states it: its definition, or what it executes alone. */
export type WrittenCommand<S> = (Omit<AnyCommand, 'execute'> & Executing<S>) | Executing<S>['execute'];

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
