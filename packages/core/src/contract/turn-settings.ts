import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { Budget, BudgetLimits } from '../budget.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { Usage } from '../model/usage.ts';
import type { NewId } from '../new-id.ts';
import type { Policy } from '../policies/policy.ts';
import type { Answer } from '../results/answer.ts';
import type { Outcome, Settlement } from '../results/outcome.ts';
import type { Session } from '../session/session.ts';
import type { Message } from '../transcript/message.ts';
import type { Transcript } from '../transcript/transcript.ts';
import type { Prompt } from './prompt.ts';
import type { TerminatingContract } from './terminating.ts';
import type { ToolSet } from './tool-set.ts';
import type { TurnEvent } from './turn-events.ts';

/** The settings of a turn, whether a host or a call runs it. */
export interface TurnSettings<T extends ToolSet> {
  instructions?: string | Prompt;
  /** The parameters of a prompt. */
  params?: Record<string, unknown>;
  /** One message by the user. */
  prompt?: string;
  messages?: readonly Message[];
  /** What happened before. Without `prompt` or `messages` an unfinished turn in it continues. */
  transcript?: Transcript;
  answers?: Readonly<Record<string, Answer>>;
  tools?: T | ((step: StepInfo) => T);
  session?: Session;
  batch?: BatchOptions;
  terminating?: TerminatingContract;
  /** Default 'suspend'. */
  onPending?: 'suspend' | 'continue';
  rewind?: RewindOptions;
  /** Appended as the last message of each request, and never stored. */
  observe?: () => string;
  onEvent?: (event: TurnEvent) => void;
  onStepFinish?: (step: FinishedStep) => void;
  /** Default 50; under a terminating contract there is no default limit. */
  maxSteps?: number;
  /** Milliseconds since the epoch. */
  deadline?: number;
  budget?: Budget | BudgetLimits;
  /** Time before the deadline that is reserved for one last answer, in which no tool may be called. */
  reserveMs?: number;
  /** Tokens of the budget that are reserved for one last answer, in which no tool may be called. */
  reserveTokens?: number;
  signal?: AbortSignal;
  policies?: readonly Policy[];
  clock?: Clock;
  newId?: NewId;
  logger?: Logger;
  /** How often a temporary model error is retried. Default 2. */
  modelRetries?: number;
  /** Temperature, output limits and the like, in the form of the provider interface. */
  modelSettings?: Omit<LanguageModelV4CallOptions, 'prompt' | 'tools' | 'abortSignal'>;
}

export interface StepInfo {
  /** Counted from 1. */
  readonly step: number;
  readonly session: Session;
}

export interface BatchOptions {
  /** After a call fails, the later ones of its batch run ('continue', the default) or are cancelled. */
  onError?: 'continue' | 'cancel-rest';
  /** After a terminal tool succeeded, plain calls are skipped (the default) or run. */
  afterTerminal?: 'skip' | 'run';
  /** When transitions run: where the model wrote them (the default), or after all other calls of their batch. */
  transitions?: 'in-place' | 'last';
  /** Whether the view keeps calls that did not run. Default 'keep'; under a terminating contract 'trim'. */
  history?: 'keep' | 'trim';
}

export interface RewindOptions {
  /** How many rewinds a turn may have. Default 2. */
  max?: number;
  /** Saves the host's own state, once, at the checkpoint. */
  checkpoint?: () => unknown;
  restore?: (saved: never) => void | Promise<void>;
  /**
   * Whether something that the host did for this call stays after a rewind. The model is told so, as for calls with outside effects.
   * Default: nothing stays.
   */
  stands?: (settlement: Settlement) => boolean;
}

export interface FinishedStep {
  readonly toolCalls: readonly { readonly toolCallId: string; readonly toolName: string; readonly input: unknown }[];
  readonly toolResults: readonly {
    readonly toolCallId: string;
    readonly toolName: string;
    readonly input: unknown;
    readonly output: Outcome;
  }[];
  readonly text: string;
  readonly usage: Usage;
}
