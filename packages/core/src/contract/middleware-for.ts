import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { ModelReply } from '../model/model-reply.ts';
import type { Outcome } from '../results/outcome.ts';
import type { Problem } from '../schema/schema-result.ts';

/** The request to a model. */
export type ModelRequest = LanguageModelV4CallOptions;

/**
 * The shape of a middleware whose calls receive `Context`. Only `Middleware` fills it in, with ToolContext: a tool
 * context runs turns, turns take middleware, and without the parameter the three types would import each other in a
 * circle.
 */
export interface MiddlewareFor<Context> {
  readonly name: string;
  /**
   * Wraps the run of a tool. `next` runs it and returns what it returned, or throws what it threw. Each `next` starts
   * from the state before the call: what an earlier one wrote is gone.
   */
  call?(next: (call?: MiddlewareCall) => Promise<unknown>, call: MiddlewareCall, ctx: Context): unknown;
  /**
   * Changes the outcome that is stored and reported, e.g. shortens a text that is too long. Called once per call,
   * whether or not its tool ran; it cannot change the status. The tool's effects, and what its output schema and
   * policies saw, stay as they were.
   */
  outcome?(outcome: Outcome, call: MiddlewareCall): Outcome;
  /**
   * Wraps a request to the model, including the turn's own retries. If it throws `BudgetUsedUp`, the turn stops with `budget`. `model`
   * names the model that is asked; after the reply, the one that answered.
   */
  model?(
    next: (request?: ModelRequest) => Promise<ModelReply>,
    request: ModelRequest,
    ctx: { readonly step: number; readonly model: Pick<LanguageModelV4, 'provider' | 'modelId'> },
  ): Promise<ModelReply>;
  /**
   * Repairs arguments that did not fit. It is called once, and its result is checked again. Undefined means that they
   * cannot be repaired. Not called for a reply that was cut off, because what is missing there is not known.
   */
  repair?(broken: BrokenInput): unknown;
}

export interface MiddlewareCall {
  readonly callId: string;
  readonly toolName: string;
  readonly input: unknown;
}

/** Arguments that did not fit, and why. */
export interface BrokenInput {
  readonly callId: string;
  readonly toolName: string;
  /** The arguments as the model wrote them. */
  readonly input: unknown;
  readonly problems: readonly Problem[];
  readonly jsonSchema: unknown;
}
