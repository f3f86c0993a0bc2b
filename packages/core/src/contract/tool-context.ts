import type { LanguageModelV4, LanguageModelV4Message } from '@ai-sdk/provider';
import type { Budget } from '../budget.ts';
import type { Filesystem } from '../files/filesystem.ts';
import type { Logger } from '../logger.ts';
import type { LanguageModelV3Like } from '../model/lift-model.ts';
import type { Resources } from '../session/resource.ts';
import type { Session } from '../session/session.ts';
import type { MiddlewareFor } from './middleware-for.ts';
import type { ToolSet } from './tool-set.ts';
import type { TerminalOutput, TurnResult } from './turn-result.ts';
import type { TurnSettings } from './turn-settings.ts';

/**
 * What a tool receives beside its input: the AI SDK's execution options and more. Everything that writes is fenced:
 * once the call has ended, it changes nothing any more.
 */
export interface ToolContext {
  /** The call's id, under the AI SDK's name for it. */
  readonly toolCallId: string;
  readonly toolName: string;
  /** Stays the same for every run of one call: pass it to a service that must not act twice. */
  readonly idempotencyKey: string;
  /** 1 for the first run of the call, 2 for its first repetition. */
  readonly attempt: number;
  /** The draft of this call. What is dispatched here is committed if the call succeeds. */
  readonly session: Session;
  readonly resources: Resources;
  readonly filesystem: Filesystem;
  /** When the call will be abandoned, in milliseconds since the epoch. */
  readonly deadline: number | undefined;
  readonly budget: Budget | undefined;
  readonly abortSignal: AbortSignal;
  readonly messages: readonly LanguageModelV4Message[];
  /** The answer to `pending({ asks: true })`, which the call returned in its last run. */
  readonly answer: { readonly result: unknown } | { readonly error: string } | undefined;
  /** Reports the progress of the call. */
  progress(value: unknown): void;
  /**
   * Runs a nested turn inside this call: it joins the call's draft and stays within its deadline, budget and abort.
   * With `endsParent`, a terminal tool that ends it also ends the surrounding turn, with the same response.
   */
  runTurn<T extends ToolSet>(options: NestedTurnOptions<T>): Promise<TurnResult<TerminalOutput<T>>>;
  /** The prompt that offered the tool, if one did. */
  readonly prompt: PromptLike | undefined;
  readonly logger: Logger;
}

/** A turn inside a call. It uses the outer turn's model unless another is given. */
export interface NestedTurnOptions<T extends ToolSet = ToolSet> extends TurnSettings<T> {
  model?: LanguageModelV4 | LanguageModelV3Like;
  middleware?: readonly MiddlewareFor<ToolContext>[];
  endsParent?: boolean;
}

/** The part of a prompt that a tool may know without making tools depend on prompts. */
export interface PromptLike {
  readonly ns: string;
  readonly key: string;
}
