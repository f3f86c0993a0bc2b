import type { LanguageModelV4Message } from '@ai-sdk/provider';
import type { Budget } from '../budget.ts';
import type { Clock } from '../clock.ts';
import type { Middleware } from '../contract/middleware.ts';
import type { NestedTurnOptions, PromptLike, ToolContext } from '../contract/tool-context.ts';
import type { ToolSet } from '../contract/tool-set.ts';
import type { TurnResult } from '../contract/turn-result.ts';
import type { Logger } from '../logger.ts';
import type { Policy } from '../policies/policy.ts';
import type { Answer } from '../results/answer.ts';
import type { CallEvent } from '../results/call-events.ts';
import type { Settlement } from '../results/outcome.ts';
import type { SessionLayer } from '../session/session-layer.ts';
import type { ResolvedTool } from '../tools/resolved-tool.ts';
import type { Staged } from '../transcript/journal.ts';
import type { CallLimit } from './call-limit.ts';
import type { ReadArguments } from './read-arguments.ts';

/** A call that may have changed something outside, itself or by calls inside it. */
export interface ActedCall {
  readonly tool: ResolvedTool;
  readonly settlement: Settlement;
  /** In the order in which they were settled. */
  readonly inside: readonly ActedCall[];
  /** True once a rewind has undone it. */
  isUndone: boolean;
}

/** Everything the stages of one call need, with the options checked and the defaults filled in. */
export interface CallRun {
  readonly tools: ToolSet;
  readonly callId: string;
  readonly toolName: string;
  /** The arguments as the model wrote them. */
  readonly written: unknown;
  /** The parsed arguments, if they were parsed before. The tool gets this object and may change it. */
  readonly read?: ReadArguments | undefined;
  /** True if the reply that asked for the call was cut off, perhaps in the middle of its arguments. */
  readonly isCutOff?: boolean | undefined;
  readonly idempotencyKey: string;
  /** The provider's result, if the provider executed the call itself. */
  readonly provided: { readonly result: unknown; readonly isError: boolean } | undefined;
  readonly answer: Answer | undefined;
  /** The arguments that were shown to the person who answers. */
  readonly shown?: unknown;
  /** True if the tool asked for the answer: it runs again, with it. */
  readonly isResumed?: boolean | undefined;
  readonly pendingAnswered: boolean;
  /** The session, or the draft of the call that makes this one. */
  readonly session: SessionLayer;
  readonly limit: CallLimit;
  /** The host's deadline, for the turn or the call: a tool's timeout is not included. */
  readonly hostDeadline: number | undefined;
  readonly budget: Budget | undefined;
  readonly policies: readonly Policy[];
  readonly middleware: readonly Middleware[];
  /** The messages that the model had been shown. A function, because few tools read them and they are long. */
  messages(): readonly LanguageModelV4Message[];
  readonly prompt: PromptLike | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly startedAt: number;
  /** Records the start before the tool runs. A rejection ends the run, not the call. */
  readonly onStart: ((tool: ResolvedTool, input: unknown) => void | Promise<void>) | undefined;
  /** Called before a tool with outside effects runs inside this call, however deep. Records that this call may have acted too. */
  readonly onActInside?: (() => void | Promise<void>) | undefined;
  /** Called when it has settled and may have acted. */
  readonly onActed?: ((call: ActedCall) => void) | undefined;
  /** Records the end before the call is committed. A rejection ends the run, and nothing is committed. */
  readonly onSettle: ((settlement: Settlement, staged: Staged) => void | Promise<void>) | undefined;
  /** The call inside which this one was made, directly or by a turn. */
  readonly outer: CallRun | undefined;
  /** True if something outside may have been changed, by its tool or by a nested call. */
  actedOutside: boolean;
  /** The calls directly inside this one that may have acted outside, as they settle. */
  inside?: ActedCall[] | undefined;
  /** True if an earlier process had begun to run its tool. */
  readonly begunBefore?: boolean | undefined;
  /** Runs a turn inside this call. Undefined outside a turn. */
  readonly runTurn: ((options: NestedTurnOptions, ctx: ToolContext) => Promise<TurnResult>) | undefined;
  /** True if the surrounding turn rewinds to its checkpoint when the call has succeeded. */
  readonly rewinds?: boolean | undefined;
  /** Undefined if there is no listener, so that no event is created for nothing. */
  readonly emit: ((event: CallEvent) => void) | undefined;
  /** Resolves when the listener has caught up; undefined if there is nothing to wait for. */
  readonly ready?: (() => Promise<void> | undefined) | undefined;
}
