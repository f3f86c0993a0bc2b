import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { Budget, BudgetLimits } from '../budget.ts';
import type { Clock } from '../clock.ts';
import type { Answer } from '../dispatch/answer.ts';
import { OptionsError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { Middleware } from '../middleware/middleware.ts';
import type { NewId } from '../new-id.ts';
import type { Policy } from '../policies/policy.ts';
import type { Prompt } from '../prompt/prompt.ts';
import type { Outcome } from '../results/outcome.ts';
import type { Session } from '../session/session.ts';
import type { ToolContext } from '../tools/tool-context.ts';
import type { ToolSet } from '../tools/tool-set.ts';
import type { Journal } from './journal.ts';
import type { LanguageModelV3Like } from './lift-model.ts';
import type { Message } from './message.ts';
import type { TerminatingContract } from './terminating.ts';
import type { Transcript } from './transcript.ts';
import type { TurnEvent } from './turn-events.ts';
import type { Usage } from './usage.ts';

export interface TurnOptions<T extends ToolSet = ToolSet> {
  model: LanguageModelV4 | LanguageModelV3Like;
  instructions?: string | Prompt;
  /** The parameters of a prompt. */
  params?: Record<string, unknown>;
  /** One message by the user. */
  prompt?: string;
  messages?: readonly Message[];
  /** What happened before. Without `prompt` or `messages` an unfinished turn in it goes on. */
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
  /** Default 50; without a limit of its own under a terminating contract. */
  maxSteps?: number;
  /** Milliseconds since the epoch. */
  deadline?: number;
  budget?: Budget | BudgetLimits;
  /** Kept back of the deadline for one last answer without tools. */
  reserveMs?: number;
  /** Kept back of the token budget for one last answer without tools. */
  reserveTokens?: number;
  signal?: AbortSignal;
  middleware?: readonly Middleware[];
  policies?: readonly Policy[];
  journal?: Journal;
  clock?: Clock;
  newId?: NewId;
  logger?: Logger;
  /** How often a model error that may pass is retried. Default 2. */
  modelRetries?: number;
  /** Temperature, output limits and the like, as the provider interface has them. */
  modelSettings?: Omit<LanguageModelV4CallOptions, 'prompt' | 'tools' | 'abortSignal'>;
  /** The context of the call that runs this turn: see ToolContext.runTurn. */
  parent?: ToolContext;
}

/** A turn inside a call. The model is the outer turn's unless another is given. */
export interface NestedTurnOptions<T extends ToolSet = ToolSet>
  extends Omit<TurnOptions<T>, 'model' | 'parent' | 'journal'> {
  model?: TurnOptions['model'];
  endsParent?: boolean;
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
  /** Whether the view keeps calls that did not run. Default 'keep'; under a terminating contract 'trim'. */
  history?: 'keep' | 'trim';
}

export interface RewindOptions {
  /** How often in a turn. Default 2. */
  max?: number;
  /** Saves state of the host's own, once, at the checkpoint. */
  checkpoint?: () => unknown;
  restore?: (saved: never) => void | Promise<void>;
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

/** Refuses values that cannot work, naming the field, before any model call. */
export function checkTurnOptions(options: TurnOptions): void {
  if (typeof options !== 'object' || options === null) throw new OptionsError('options', 'must be an object.');
  checkModel(options.model);
  oneOf('onPending', options.onPending, ['suspend', 'continue']);
  oneOf('batch.onError', options.batch?.onError, ['continue', 'cancel-rest']);
  oneOf('batch.afterTerminal', options.batch?.afterTerminal, ['skip', 'run']);
  oneOf('batch.history', options.batch?.history, ['keep', 'trim']);
  wholeNumber('maxSteps', options.maxSteps, 1);
  wholeNumber('rewind.max', options.rewind?.max, 0);
  wholeNumber('modelRetries', options.modelRetries, 0);
  wholeNumber('reserveTokens', options.reserveTokens, 1);
  if (options.reserveMs !== undefined) {
    if (!(options.reserveMs > 0)) throw new OptionsError('reserveMs', 'must be a number of milliseconds above 0.');
    if (options.deadline === undefined && options.parent === undefined)
      throw new OptionsError('reserveMs', 'is kept back of a deadline, and there is none.');
  }
  for (const field of ['onEvent', 'onStepFinish', 'observe'] as const) {
    if (options[field] !== undefined && typeof options[field] !== 'function')
      throw new OptionsError(field, 'must be a function.');
  }
  if (options.prompt !== undefined && typeof options.prompt !== 'string')
    throw new OptionsError('prompt', 'must be a text.');
  if (options.messages !== undefined && !Array.isArray(options.messages))
    throw new OptionsError('messages', 'must be an array.');
}

function checkModel(model: unknown): void {
  const { doGenerate, doStream } = (typeof model === 'object' && model !== null ? model : {}) as {
    doGenerate?: unknown;
    doStream?: unknown;
  };
  if (typeof doGenerate === 'function' && typeof doStream === 'function') return;
  throw new OptionsError('model', 'must be an AI SDK language model, e.g. anthropic("…") of @ai-sdk/anthropic.');
}

function oneOf(field: string, value: unknown, allowed: readonly string[]): void {
  if (value !== undefined && !allowed.includes(value as string)) {
    throw new OptionsError(
      field,
      `must be ${allowed.map((one) => `'${one}'`).join(' or ')}, not ${JSON.stringify(value)}.`,
    );
  }
}

function wholeNumber(field: string, value: number | undefined, least: number): void {
  if (value !== undefined && !(Number.isInteger(value) && value >= least)) {
    throw new OptionsError(field, `must be a whole number of ${least} or more, not ${String(value)}.`);
  }
}
