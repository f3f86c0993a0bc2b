import type { JsonSchemaObject, ToolContext } from '@lastcall/core';

/** A question to whoever may answer the call. */
export interface Question {
  /** What they read. */
  readonly text: string;
  /** The schema of an answer. */
  readonly schema: JsonSchemaObject;
}

/** `error`: they decline, or nobody answered. */
export type PeopleAnswer = { readonly result: unknown } | { readonly error: string };

/** How a call reaches the people who may answer it. */
export interface People {
  /** Stores what the call needs to run on, until it is answered. Return `pending({ asks: true })` after it. */
  willAsk(ctx: ToolContext, question: Question, state: string): Promise<void>;
  /** The state of the question that was answered. Undefined if it cannot be read any more. */
  stateOf(ctx: ToolContext): Promise<string | undefined>;
  /** Asks while the call is open. Rejects if the signal is aborted: the question is withdrawn then. */
  askDuringCall(ctx: ToolContext, question: Question, signal: AbortSignal): Promise<PeopleAnswer>;
}
