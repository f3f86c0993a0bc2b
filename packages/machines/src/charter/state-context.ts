import { type AnyTool, type Tool, type ToolContext, type ToolDefinition, type ToolReturn, tool } from '@lastcall/core';
import type { Pack } from './pack.ts';
import type { AnySchema, ParsedBy, WrittenFor } from './schema-types.ts';

/**
 * What tools, handlers and commands of a machine receive beside their input: core's context and the machine's state.
 */
export interface StateContext<S = Record<string, unknown>> extends ToolContext {
  /**
   * The current state, with this call's own writes: of the node, the pack, or the ancestor that the tool belongs to.
   */
  readonly state: Readonly<S>;
  /**
   * Changes the given fields and keeps the others. A field that is `undefined` is removed. Throws a StateError and
   * changes nothing if the result would not fit its schema, and in tools that may only read: those of ancestors and of
   * the charter.
   */
  updateState(patch: Partial<S>): void;
  /** The instance that makes the call. */
  readonly instanceId: string;
  /** The name of its node. */
  readonly nodeName: string;
  /** The state of a pack that the node uses, read-only. Given a name instead of the pack, it has no type. */
  pack<P = Record<string, unknown>>(pack: Pack<P> | string): Readonly<P>;
}

/** A tool that knows the type of the state it works on. */
export type StateToolDefinition<S, I, O, W = I> = Omit<ToolDefinition<I, O, W>, 'execute' | 'approval'> & {
  execute?: (input: I, ctx: StateContext<S>) => ToolReturn<O>;
  approval?: boolean | ((input: I, ctx: StateContext<S>) => boolean | Promise<boolean>);
};

/**
 * A tool that is written as an object, with the type of its input, its output and the state it works on. The name must
 * equal its key in the tool set. `stateTool` infers these types.
 */
export type MachineToolDefinition<
  I = Record<string, unknown>,
  O = unknown,
  S = Record<string, unknown>,
> = StateToolDefinition<S, I, O>;

/** Makes a tool, with `ctx.state` typed and the input inferred from the schema, `Q`. */
export type StateToolMaker<S> = <const Q, O = unknown>(
  definition: InferredTool<S, Q, O>,
) => Tool<ParsedBy<Q, Record<string, unknown>>, O, WrittenFor<Q, Record<string, unknown>>>;

/** A tool definition as passed to a maker. */
type InferredTool<S, Q, O> = Omit<
  StateToolDefinition<S, ParsedBy<Q, Record<string, unknown>>, O, WrittenFor<Q, Record<string, unknown>>>,
  'inputSchema'
> & { inputSchema: Q & AnySchema };

/**
 * Makes tools for nodes or packs whose state is `S`, outside their definition: `const counting = stateTool<Counter>();
 * const add = counting({ … });`
 */
export function stateTool<S>(): StateToolMaker<S> {
  return (definition) => tool(definition as unknown as ToolDefinition) as AnyTool as never;
}
