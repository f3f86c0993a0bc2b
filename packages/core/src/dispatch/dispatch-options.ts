import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { type Budget, type BudgetLimits, nestBudget, toBudget } from '../budget.ts';
import type { Clock } from '../clock.ts';
import { assertMiddleware, type Middleware } from '../contract/middleware.ts';
import type { Prompt } from '../contract/prompt.ts';
import type { ToolContext } from '../contract/tool-context.ts';
import { assertToolSet, mergeToolSets, type ToolSet } from '../contract/tool-set.ts';
import { consoleLogger, randomId, systemClock } from '../defaults.ts';
import { OptionsError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { NewId } from '../new-id.ts';
import { isPolicy, POLICIES, type Policy } from '../policies/policy.ts';
import { type Answer, assertAnswer } from '../results/answer.ts';
import type { CallEvent } from '../results/call-events.ts';
import { createSession } from '../session/create-session.ts';
import { joinSession } from '../session/join-session.ts';
import type { Session } from '../session/session.ts';
import { SessionLayer } from '../session/session-layer.ts';
import { assertKnownOptions, type KnownNames, knownNames } from '../unknown-option.ts';
import { runOf } from './call-context.ts';
import { CallLimit } from './call-limit.ts';
import type { CallRun } from './call-run.ts';
import { safeListener } from './safe-listener.ts';

export interface DispatchOptions {
  tools?: ToolSet;
  call: CallRequest;
  /** Default: a new one, for this call alone. */
  session?: Session;
  /** A prompt includes its tools, slices, policies and resources. A plain text has no effect on a single call. */
  instructions?: string | Prompt;
  /** The parameters of the prompt. */
  params?: Record<string, unknown>;
  /** Milliseconds since the epoch. */
  deadline?: number;
  signal?: AbortSignal;
  budget?: Budget | BudgetLimits;
  middleware?: readonly Middleware[];
  policies?: readonly Policy[];
  /** The answer to this call, given while it was pending. */
  answer?: Answer;
  /** True if calls may wait for an answer from outside: tools without `execute` are offered. */
  pendingAnswered?: boolean;
  messages?: readonly LanguageModelV4Message[];
  onEvent?: (event: CallEvent) => void;
  /** The context of the call that makes this one: it joins that call's draft and stays within its limits. */
  parent?: ToolContext;
  clock?: Clock;
  newId?: NewId;
  logger?: Logger;
}

/** A call as the model asked for it. */
interface CallRequest {
  toolName: string;
  /** The input as the model wrote it (JSON text), or parsed. */
  input?: unknown;
  /** Default: a new one. */
  callId?: string;
  /** Default: the call's id. */
  idempotencyKey?: string;
  /** The result, if the model's provider executed the call itself. */
  provided?: { result: unknown; isError?: boolean };
}

/** Checks the options and fills in the defaults. Throws an error that names the field before anything runs. */
export function prepareRun(options: DispatchOptions): CallRun {
  if (typeof options !== 'object' || options === null) throw new OptionsError('options', 'must be an object.');
  assertKnownOptions(options, OPTIONS);
  const { parent, newId = randomId } = options;
  const outer = outerRun(parent);
  const clock = options.clock ?? outer?.clock ?? systemClock;
  const call = checkCall(options.call);
  const session = joinSession(options.session, parent?.session) ?? SessionLayer.of(createSession());
  session.assertUsable();
  const logger = options.logger ?? parent?.logger ?? session.logger ?? consoleLogger;
  const offered = offer(options, session);
  const { middleware = [], policies = [] } = options;
  assertMiddleware(middleware);
  assertPolicies(policies);
  if (options.answer !== undefined) assertAnswer(options.answer, 'answer');
  const budget = nestBudget(toBudget(options.budget), outer?.budget);
  const startedAt = clock.now();
  const hostDeadline = earliest(startedAt, options.deadline, outer?.limit.deadline);
  const callId = call.callId ?? newId();
  return {
    tools: offered,
    callId,
    toolName: call.toolName,
    written: call.input,
    idempotencyKey: call.idempotencyKey ?? callId,
    provided:
      call.provided === undefined
        ? undefined
        : { result: call.provided.result, isError: call.provided.isError === true },
    answer: options.answer,
    // A caller who gives an answer knows that the call waits for one.
    pendingAnswered: options.pendingAnswered ?? options.answer !== undefined,
    session,
    limit: new CallLimit({
      clock,
      deadline: hostDeadline,
      signal: checkSignal(options.signal),
      within: outer?.limit,
      cancellable: outer !== undefined,
    }),
    hostDeadline,
    budget,
    policies,
    middleware,
    messages: () => options.messages ?? outer?.messages() ?? [],
    prompt: typeof options.instructions === 'object' ? options.instructions : parent?.prompt,
    clock,
    logger,
    startedAt,
    onStart: undefined,
    onSettle: undefined,
    outer,
    actedOutside: false,
    runTurn: outer?.runTurn?.bind(outer),
    emit: safeListener(options.onEvent, logger),
  };
}

const OPTIONS: KnownNames = knownNames<DispatchOptions>(
  {
    tools: true,
    call: true,
    session: true,
    instructions: true,
    params: true,
    deadline: true,
    signal: true,
    budget: true,
    middleware: true,
    policies: true,
    answer: true,
    pendingAnswered: true,
    messages: true,
    onEvent: true,
    parent: true,
    clock: true,
    newId: true,
    logger: true,
  },
  { abortSignal: 'signal', timeout: 'deadline', timeoutMs: 'deadline', toolName: 'call.toolName', input: 'call.input' },
);
const CALL: KnownNames = knownNames<CallRequest>(
  { toolName: true, input: true, callId: true, idempotencyKey: true, provided: true },
  { toolCallId: 'callId', id: 'callId', name: 'toolName', tool: 'toolName', args: 'input', arguments: 'input' },
);

/**
 * The call that makes this one. Refuses an object that only looks like its context: it would silently work on another
 * session.
 */
export function outerRun(parent: ToolContext | undefined): CallRun | undefined {
  if (parent === undefined) return undefined;
  const run = runOf(parent);
  if (run === undefined) throw new OptionsError('parent', 'must be the context that a tool was given.');
  return run;
}

export function assertPolicies(policies: unknown): asserts policies is readonly Policy[] {
  if (!Array.isArray(policies) || !policies.every(isPolicy)) throw new OptionsError('policies', `${POLICIES}.`);
}

function checkCall(call: CallRequest): CallRequest {
  if (typeof call !== 'object' || call === null)
    throw new OptionsError('call', 'must be an object { toolName, input }.');
  assertKnownOptions(call, CALL, 'call.');
  if (typeof call.toolName !== 'string')
    throw new OptionsError('call.toolName', `must be a text, not ${typeof call.toolName}.`);
  if (call.callId !== undefined && (typeof call.callId !== 'string' || call.callId === '')) {
    throw new OptionsError('call.callId', 'must be a text that is not empty.');
  }
  return call;
}

function offer(options: DispatchOptions, session: SessionLayer): ToolSet {
  const { instructions, tools = {}, params = {} } = options;
  assertToolSet(tools, 'Option "tools"');
  if (typeof instructions !== 'object') return tools;
  return mergeToolSets(instructions.render({ session, params }).tools, tools);
}

/** A smaller number was meant as a duration, or as seconds. */
const YEAR_MS = 366 * 86_400_000;

/** The earlier of a call's own deadline and its parent's. A deadline in the past is an error of the caller. */
export function earliest(now: number, own: number | undefined, parents: number | undefined): number | undefined {
  if (own !== undefined && !Number.isFinite(own))
    throw new OptionsError('deadline', `must be a time in milliseconds, not ${String(own)}.`);
  if (own !== undefined && own <= now) {
    const hint = own < YEAR_MS ? ' It must be a time in milliseconds since 1970, and not a duration.' : '';
    throw new OptionsError('deadline', `is in the past: ${own}, and it is ${now}.${hint}`);
  }
  if (own === undefined || parents === undefined) return own ?? parents;
  return Math.min(own, parents);
}

export function checkSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal === undefined || signal instanceof AbortSignal) return signal;
  throw new OptionsError('signal', 'must be an AbortSignal.');
}
