import type { JsonSchemaObject, ToolContext } from '@lastcall/core';
import type { Answerers } from '../../../config/tool-config.ts';

/** A question to the people who may answer the call. */
export interface Question {
  /** The text that they read. */
  readonly text: string;
  /** The schema of an answer. */
  readonly schema: JsonSchemaObject;
  /** Who may answer. Default: those who may answer calls of the tool. */
  readonly answerers?: Answerers | undefined;
  /** How long it waits. Default: as long as calls of the tool. */
  readonly expiresInMs?: number | undefined;
}

/** `error`: they declined, or did not answer in time. */
export type PeopleAnswer = { readonly result: unknown } | { readonly error: string };

/** How a call reaches the people who may answer it. */
export interface People {
  /**
   * Stores what the call needs to continue, until the question is answered. Return `pending({ asks: true })` after it.
   */
  willAsk(ctx: ToolContext, question: Question, state: string): Promise<void>;
  /** The state of the question that was answered. Undefined if it can no longer be read. */
  stateOf(ctx: ToolContext): Promise<string | undefined>;
  /** Asks while the call is open. If the signal is aborted, it rejects and the question is withdrawn. */
  askDuringCall(ctx: ToolContext, question: Question, signal: AbortSignal): Promise<PeopleAnswer>;
}
