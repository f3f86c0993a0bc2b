import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { ModelReply } from '../model/model-reply.ts';
import type { Outcome } from '../results/outcome.ts';
import type { Problem } from '../schema/schema-result.ts';

/** What a model is asked. */
export type ModelRequest = LanguageModelV4CallOptions;

/**
 * The shape of a middleware whose calls are given `Context`. Only `Middleware` fills it in, with ToolContext: a tool context
 * runs turns, turns take middleware, and the three types would import each other in a circle without the parameter.
 */
export interface MiddlewareFor<Context> {
  readonly name: string;
  /**
   * Wraps the running of a tool. `next` runs it and gives what it returned, or throws what it threw. Each `next` starts
   * from the state before the call: what an earlier one wrote is gone.
   */
  call?(next: (call?: MiddlewareCall) => Promise<unknown>, call: MiddlewareCall, ctx: Context): unknown;
  /**
   * Changes what is kept and told of how a call ended, e.g. cuts a text that is too long. Asked once a call, whether or not its tool
   * ran; the status stays what it is. The tool's effects, and what its output schema and policies saw, are as they were.
   */
  outcome?(outcome: Outcome, call: MiddlewareCall): Outcome;
  /** Wraps a request to the model, retries of the turn's own included. */
  model?(
    next: (request?: ModelRequest) => Promise<ModelReply>,
    request: ModelRequest,
    ctx: { readonly step: number },
  ): Promise<ModelReply>;
  /**
   * Mends arguments that did not fit: asked once, and what it gives is checked again. Undefined: cannot be mended. Not asked about a
   * reply that was cut off: what is missing there is not known.
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
