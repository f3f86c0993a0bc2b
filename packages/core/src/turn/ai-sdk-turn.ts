import type { LanguageModelV4, LanguageModelV4Message } from '@ai-sdk/provider';
import { assertToolSet, type ToolSet } from '../contract/tool-set.ts';
import type { BatchOptions, TurnSettings } from '../contract/turn-settings.ts';
import { askApproval } from '../dispatch/ask-approval.ts';
import { CallContext } from '../dispatch/call-context.ts';
import { dispatchRun } from '../dispatch/dispatch-call.ts';
import { LastcallError, OptionsError } from '../errors.ts';
import { noUsage } from '../model/usage.ts';
import type { Answer } from '../results/answer.ts';
import type { Settlement } from '../results/outcome.ts';
import { startRun } from '../session/call-ends.ts';
import { SessionLayer } from '../session/session-layer.ts';
import type { ResolvedTool } from '../tools/resolved-tool.ts';
import type { RequestedCall } from '../transcript/entry.ts';
import { assertKnownOptions, type KnownNames, knownNames } from '../unknown-option.ts';
import { type PlannedCall, planBatch } from './batch-plan.ts';
import { refusalOf } from './batch-rules.ts';
import { Checkpoint } from './checkpoint.ts';
import { type BatchEnding, decideEnding, type Ended, roleAfter } from './ending.ts';
import { stepTools } from './offer-tools.ts';
import { record, settleUnrun } from './record.ts';
import { DEFAULT_REWINDS, rewind, rewindRefusal } from './rewind.ts';
import { isRewindTool } from './rewind-tool.ts';
import { runNested } from './run-turn.ts';
import type { StepTools } from './step-tools.ts';
import { toTurnResult } from './to-turn-result.ts';
import { openTurn, type Turn } from './turn.ts';
import { TurnCall } from './turn-call.ts';
import type { TurnOptions } from './turn-options.ts';

export interface AiSdkTurnOptions
  extends Pick<TurnSettings<ToolSet>, 'session' | 'rewind' | 'policies' | 'maxSteps' | 'clock' | 'logger'>,
    Pick<TurnOptions, 'middleware'> {
  batch?: Pick<BatchOptions, 'onError' | 'afterTerminal'>;
}

/** What the AI SDK passes with a call. */
export interface AiSdkCall {
  readonly toolName: string;
  readonly input: unknown;
  readonly toolCallId: string;
  readonly messages: readonly unknown[];
  readonly abortSignal?: AbortSignal | undefined;
}

/**
 * A turn whose loop is the AI SDK's: the AI SDK asks the model and hands over one call at a time, and this settles it by
 * the rules of a turn. Its transcript has a reply of one call for each call, because which calls belong to one reply is
 * known only afterwards.
 */
export class AiSdkTurn {
  readonly tools: ToolSet;
  readonly #turn: Turn;
  readonly #max: number;
  /** The settled calls of the current step. */
  #ended: Ended[] = [];
  readonly #byToolCallId = new Map<string, Settlement>();
  /** The calls run one after another, in the order in which they come. */
  #queue: Promise<unknown> = Promise.resolve();
  #step: Promise<StepTools> | undefined;
  /** An error that ends the run: a host signal, or state that could not be restored. */
  #failure: { readonly error: unknown } | undefined;
  readonly #view = new RewoundView();

  constructor(tools: ToolSet, options: AiSdkTurnOptions) {
    assertToolSet(tools);
    if (options instanceof SessionLayer) throw new OptionsError('options', 'is a session: give { session }.');
    assertKnownOptions(options, OPTIONS);
    assertKnownOptions(options.batch, BATCH, 'batch.');
    this.#max = options.rewind?.max ?? DEFAULT_REWINDS;
    this.tools = this.#max > 0 ? tools : withoutRewind(tools);
    this.#turn = openTurn({ ...options, model: NO_MODEL, tools: this.tools }, runNested);
  }

  get session(): Turn['session'] {
    return this.#turn.session;
  }

  get settlements(): readonly Settlement[] {
    return this.#turn.progress.settled.slice();
  }

  /** How the newest call with this id of the AI SDK ended: providers may repeat ids. */
  settlementOf(toolCallId: string): Settlement | undefined {
    return this.#byToolCallId.get(toolCallId);
  }

  /** The response, if a tool has given one. */
  get ending(): { readonly response: string; readonly output: unknown } | undefined {
    const ending = this.#ending;
    if (ending.kind !== 'response') return undefined;
    const { toolName } = ending.settlement;
    return toTurnResult(this.#turn, { reason: 'end_turn', by: 'terminal', tool: toolName });
  }

  get #ending(): BatchEnding {
    return decideEnding(this.#ended);
  }

  /** Called before each request. Returns the messages that the model is to get instead, if the turn was rewound. */
  async startStep(stepNumber: number, messages: readonly unknown[]): Promise<readonly unknown[] | undefined> {
    await this.#queue;
    if (this.#failure !== undefined) throw this.#failure.error;
    if (stepNumber === 0 && this.#view.isStarted)
      throw new OptionsError('prepareStep', 'belongs to a run that has begun. Call toAiSdkTools for each run.');
    this.#ended = [];
    const { hasRewind } = await this.#tools();
    if (stepNumber === 0 && hasRewind) await this.#takeCheckpoint();
    return this.#view.messages(messages);
  }

  /** Whether the AI SDK must stop after the step. After a failure it must not: the next step reports it. */
  shouldStop(steps: number): boolean {
    // Without it a step would never end: after one failure, all later calls would be cancelled.
    if (!this.#view.isStarted)
      throw new OptionsError(
        'prepareStep',
        'was not called. Spread all settings of toAiSdkTools. If you have a prepareStep of your own, call settings.prepareStep in it and return its messages too.',
      );
    if (this.#failure !== undefined) return false;
    const { kind } = this.#ending;
    return kind === 'response' || kind === 'transition' || kind === 'pending' || steps >= this.#turn.maxSteps;
  }

  /** Settles a call, after those that came before it. */
  settle(call: AiSdkCall): Promise<Settlement> {
    const settling = this.#queue.then(() => this.#settleNow(call));
    this.#queue = settling.catch((error: unknown) => {
      this.#failure ??= { error };
    });
    return settling;
  }

  async needsApproval(call: AiSdkCall, tool: ResolvedTool): Promise<boolean> {
    const policies = [...(this.#turn.options.policies ?? []), ...tool.policies];
    const isFixed = tool.approval === false || policies.every(({ approveCall }) => approveCall === undefined);
    if (typeof tool.approval === 'boolean' && isFixed) return tool.approval;
    const parsed = await tool.input.validate(call.input);
    // It is refused when it runs.
    if (!parsed.ok) return false;
    const run = this.#toRun(await this.#tools(), this.#toCall(call), call, undefined);
    const session = this.#turn.session.open({ readOnly: true });
    try {
      const asked = await askApproval(run, tool, parsed.value, { ctx: new CallContext(run, session, 0), policies });
      return 'end' in asked && asked.end.status === 'pending';
    } finally {
      await session.discard();
      run.limit.stop();
    }
  }

  async #settleNow(given: AiSdkCall): Promise<Settlement> {
    if (this.#failure !== undefined) throw this.#failure.error;
    const turn = this.#turn;
    const step = await this.#tools();
    const call = this.#toCall(given);
    await this.#recordReply(call, given.input);
    const [planned] = planBatch([call], step.plan).flat() as [PlannedCall];
    const refused =
      refusalOf(planned, this.#ended, turn.rules) ??
      (planned.role === 'rewind' ? rewindRefusal(turn, step) : undefined);
    const settlement =
      refused === undefined ? await this.#run(step, planned, given) : await settleUnrun(turn, planned, refused);
    const role = turn.progress.ending.has(call.callId) ? 'terminal' : planned.role;
    this.#ended.push({ role: roleAfter(role, settlement, false), settlement });
    this.#byToolCallId.set(given.toolCallId, settlement);
    if (role === 'rewind' && this.#ending.kind === 'rewind' && settlement.outcome.status === 'ok')
      await this.#rewind(step, settlement);
    return settlement;
  }

  async #run(step: StepTools, call: PlannedCall, given: AiSdkCall): Promise<Settlement> {
    const answer: Answer | undefined = isApproved(given) ? { approve: true } : undefined;
    const run = this.#toRun(step, call, given, answer);
    const { abortSignal } = given;
    const cancel = (): void => run.limit.cancel('The host aborted it');
    if (abortSignal?.aborted === true) cancel();
    abortSignal?.addEventListener('abort', cancel, { once: true });
    try {
      return await dispatchRun(run);
    } finally {
      abortSignal?.removeEventListener('abort', cancel);
    }
  }

  #toRun(step: StepTools, call: RequestedCall, given: AiSdkCall, answer: Answer | undefined): TurnCall {
    return new TurnCall(this.#turn, step, {
      call,
      read: { value: given.input },
      answer,
      beside: true,
      messages: given.messages as readonly LanguageModelV4Message[],
    });
  }

  async #rewind(step: StepTools, settlement: Settlement): Promise<void> {
    await rewind(this.#turn, step, settlement);
    const told = this.#turn.transcript.entries.at(-1);
    if (told?.kind === 'rewind') this.#view.rewind(told.text);
  }

  /** The call under the AI SDK's id, or one like it if a provider has repeated an id. */
  #toCall({ toolCallId, toolName, input }: AiSdkCall): RequestedCall {
    let callId = toolCallId;
    for (let count = 2; this.#turn.transcript.hasCall(callId); count++) callId = `${toolCallId}-${count}`;
    return { callId, toolName, input: JSON.stringify(input) ?? '' };
  }

  async #recordReply(call: RequestedCall, input: unknown): Promise<void> {
    const turn = this.#turn;
    const { callId: toolCallId, toolName } = call;
    await record(turn, {
      kind: 'reply',
      step: turn.progress.steps + 1,
      content: [{ type: 'tool-call', toolCallId, toolName, input }],
      calls: [call],
      text: '',
      finishReason: 'tool-calls',
      usage: noUsage,
    });
  }

  async #tools(): Promise<StepTools> {
    this.#step ??= this.#begin();
    await this.#step;
    return await stepTools(this.#turn, this.#max > 0);
  }

  async #begin(): Promise<StepTools> {
    const turn = this.#turn;
    turn.session.recording = undefined;
    await record(turn, { kind: 'turn' });
    startRun(turn.session);
    Checkpoint.forget(turn.session);
    return await stepTools(turn, this.#max > 0);
  }

  /**
   * Before the first request, and not before the calls that were approved since the run before: their results are among the messages to which
   * a rewind goes back.
   */
  async #takeCheckpoint(): Promise<void> {
    const turn = this.#turn;
    turn.checkpoint = Checkpoint.take(turn.session, await turn.options.rewind?.checkpoint?.());
    await record(turn, { kind: 'checkpoint' });
    // Nothing says when the AI SDK is done. The next turn of the session forgets what is kept here.
    turn.checkpoint.keep('');
  }
}

/** The AI SDK's messages as the model is to see them: a rewind replaces those of the steps since the start. */
class RewoundView {
  #start: readonly unknown[] | undefined;
  #told: { readonly role: 'user'; readonly content: string } | undefined;
  /** True until the rewind has been shown to the model. */
  #isNew = false;
  /** How many messages the rewind has replaced. */
  #replaced = 0;

  get isStarted(): boolean {
    return this.#start !== undefined;
  }

  rewind(text: string): void {
    this.#told = { role: 'user', content: text };
    this.#isNew = true;
  }

  messages(given: readonly unknown[]): readonly unknown[] | undefined {
    this.#start ??= given.slice();
    if (this.#told === undefined) return undefined;
    if (this.#isNew) this.#replaced = given.length;
    // Version 7 keeps the messages that a step was given for the steps that follow; version 6 does not.
    else if (isSame(given[this.#start.length], this.#told)) return undefined;
    this.#isNew = false;
    return [...this.#start, this.#told, ...given.slice(this.#replaced)];
  }
}

function isSame(message: unknown, told: { readonly content: string }): boolean {
  const { role, content } = (message ?? {}) as { role?: unknown; content?: unknown };
  return role === 'user' && content === told.content;
}

/** The AI SDK asks people itself. A call counts as approved only if its messages say so. */
function isApproved({ toolCallId, messages }: AiSdkCall): boolean {
  const parts = (messages as readonly { content?: unknown }[]).flatMap(({ content }) =>
    Array.isArray(content) ? (content as readonly ApprovalPart[]) : [],
  );
  const asked = parts.filter((part) => part.type === 'tool-approval-request' && part.toolCallId === toolCallId);
  const ids = new Set(asked.map(({ approvalId }) => approvalId));
  return parts.some(
    (part) => part.type === 'tool-approval-response' && part.approved === true && ids.has(part.approvalId),
  );
}

interface ApprovalPart {
  readonly type?: unknown;
  readonly approvalId?: unknown;
  readonly toolCallId?: unknown;
  readonly approved?: unknown;
}

function withoutRewind(tools: ToolSet): ToolSet {
  return Object.fromEntries(Object.entries(tools).filter(([, definition]) => !isRewindTool(definition)));
}

const OPTIONS: KnownNames = knownNames<AiSdkTurnOptions>({
  session: true,
  batch: true,
  rewind: true,
  policies: true,
  middleware: true,
  maxSteps: true,
  clock: true,
  logger: true,
});
const BATCH: KnownNames = knownNames<NonNullable<AiSdkTurnOptions['batch']>>({ onError: true, afterTerminal: true });

function noModel(): never {
  throw new LastcallError('options', 'The AI SDK runs the model of this turn. Give ctx.runTurn a model.');
}

/** A turn inside a call would ask it. */
const NO_MODEL: LanguageModelV4 = {
  specificationVersion: 'v4',
  provider: 'ai-sdk',
  modelId: 'ai-sdk',
  supportedUrls: {},
  doGenerate: noModel,
  doStream: noModel,
};
