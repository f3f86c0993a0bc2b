import type { LanguageModelV4Message } from '@ai-sdk/provider';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { Middleware } from '../middleware.ts';
import type { Policy } from '../policies/policy.ts';
import type { SessionLayer } from '../session/session-layer.ts';
import type { PromptLike } from '../tools/tool-context.ts';
import type { ToolSet } from '../tools/tool-set.ts';
import type { Answer } from './answer.ts';
import type { Budget } from './budget.ts';
import type { CallEvent } from './call-events.ts';
import type { CallLimit } from './call-limit.ts';

/** Everything the stages of one call need, with the options checked and the defaults filled in. */
export interface CallRun {
  readonly tools: ToolSet;
  readonly callId: string;
  readonly toolName: string;
  /** As the model wrote it. */
  readonly written: unknown;
  readonly idempotencyKey: string;
  /** What the model's provider gave, where it executed the call itself. */
  readonly provided: { readonly result: unknown; readonly isError: boolean } | undefined;
  readonly answer: Answer | undefined;
  readonly pendingAnswered: boolean;
  /** The session, or the draft of the call that makes this one. */
  readonly session: SessionLayer;
  readonly limit: CallLimit;
  readonly budget: Budget | undefined;
  readonly policies: readonly Policy[];
  readonly middleware: readonly Middleware[];
  readonly messages: readonly LanguageModelV4Message[];
  readonly prompt: PromptLike | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly startedAt: number;
  /** Undefined where nobody listens, so that no event is made for nobody. */
  readonly emit: ((event: CallEvent) => void) | undefined;
}
