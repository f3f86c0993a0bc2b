import { CallLimit } from '../dispatch/call-limit.ts';
import type { ToolSet } from '../tools/tool-set.ts';
import { checkAnswers, settleLateAnswers } from './answers.ts';
import { askModel } from './ask-model.ts';
import { Checkpoint } from './checkpoint.ts';
import { type BatchEnding, decideEnding, type Ended } from './ending.ts';
import type { Entry, ReplyEntry } from './entry.ts';
import { toModelMessage, userMessage } from './message.ts';
import { goesOn, isFinished } from './progress.ts';
import { DEFAULT_REWINDS, rewind } from './rewind.ts';
import { isRewindTool } from './rewind-tool.ts';
import { settleBatch } from './settle-batch.ts';
import { assertContract, type StepTools, stepTools } from './step-tools.ts';
import type { Stop } from './stop.ts';
import { MaxConsecutiveNudgesExceeded, MaxInvocationsExceeded } from './terminating.ts';
import { isNew, openTurn, record, type Turn } from './turn.ts';
import { attachTurn } from './turn-error.ts';
import type { TurnOptions } from './turn-options.ts';
import { type TurnResult, toTurnResult } from './turn-result.ts';

/** Runs steps until the agent stops. See docs/turns.md for what it rejects with: never for what a tool does. */
export function runTurn<T extends ToolSet>(options: TurnOptions<T>): Promise<TurnResult<T>> {
  return runOpened(() => openTurn(options as TurnOptions, runNested)) as Promise<unknown> as Promise<TurnResult<T>>;
}

/** How a call runs a turn of its own. */
export const runNested: Turn['runNested'] = (options, ctx) => runTurn({ ...(options as TurnOptions), parent: ctx });

/** For those who open the turn themselves. */
export async function runOpened(open: () => Turn): Promise<TurnResult> {
  const turn = open();
  // Two turns on one session never interleave: the second waits.
  const ticket = turn.session.turns.enter('exclusive');
  try {
    if (ticket.ready !== true) await turn.limit.race(ticket.ready);
    return await runAlone(turn);
  } catch (error) {
    throw await fail(turn, error);
  } finally {
    ticket.leave();
    turn.limit.stop();
  }
}

async function runAlone(turn: Turn): Promise<TurnResult> {
  checkAnswers(turn);
  assertContract(turn);
  const begun = isNew(turn.options);
  if (!begun && isFinished(turn.progress.stop) && turn.options.answers === undefined)
    return toTurnResult(turn, turn.progress.stop as Stop);
  await begin(turn, begun);
  const drive = new Drive(turn);
  try {
    const stop = await drive.toStop();
    await record(turn, { kind: 'stop', stop });
    turn.emit?.({ type: 'turn.end', stop });
    return toTurnResult(turn, stop);
  } finally {
    drive.release();
  }
}

/** Writes down what the turn starts from. A turn that goes on starts from where it was. */
async function begin(turn: Turn, begun: boolean): Promise<void> {
  const { prompt, messages = [] } = turn.options;
  const said = [
    ...messages.map((message, index) => toModelMessage(message, `messages[${index}]`)),
    ...(prompt === undefined ? [] : [userMessage(prompt)]),
  ];
  const entries: Entry[] = said.map((message) => ({ kind: 'message', message }));
  if (begun || !goesOn(turn.progress.stop)) entries.unshift({ kind: 'turn' });
  if (entries.length > 0) await record(turn, ...entries);
  await settleLateAnswers(turn);
}

/** The error with what was done and why attached, and the end told of. */
async function fail(turn: Turn, error: unknown): Promise<unknown> {
  const stop: Stop = (error as { stop?: Stop } | undefined)?.stop ?? { reason: 'error', error };
  turn.emit?.({ type: 'turn.end', stop });
  return attachTurn(error, stop, turn.transcript);
}

/** The loop. It performs what the pure files decide. */
class Drive {
  readonly #turn: Turn;
  #checkpoint: Checkpoint | undefined;

  constructor(turn: Turn) {
    this.#turn = turn;
  }

  async toStop(): Promise<Stop> {
    const turn = this.#turn;
    for (;;) {
      const reply = turn.progress.open;
      const stop = reply === undefined ? await this.#step() : await this.#decide(reply, await this.#tools());
      if (stop !== undefined) return stop;
    }
  }

  release(): void {
    this.#checkpoint?.release();
  }

  /** One model reply and the settling of its batch. */
  async #step(): Promise<Stop | undefined> {
    const turn = this.#turn;
    const limited = stopBefore(turn);
    if (limited !== undefined) return await this.#lastWord(limited);
    const tools = await this.#tools();
    const reply = await askModel(turn, tools, turn.limit);
    if (reply === undefined) return await this.#lastWord(stopOfLimit(turn));
    return await this.#decide(reply, tools);
  }

  async #decide(reply: ReplyEntry, tools: StepTools): Promise<Stop | undefined> {
    const turn = this.#turn;
    turn.transcript.useSlots((name) => keepLatestOf(tools, name));
    const batch = reply.calls.length === 0 ? [] : await settleBatch(turn, tools, reply);
    finishStep(turn, reply, batch);
    if (reply.calls.length === 0) return await this.#afterText(reply);
    const stop = await this.#afterBatch(decideEnding(batch), batch, reply, tools);
    turn.progress.open = undefined;
    return stop;
  }

  async #afterBatch(
    ending: BatchEnding,
    batch: readonly Ended[],
    reply: ReplyEntry,
    tools: StepTools,
  ): Promise<Stop | undefined> {
    const turn = this.#turn;
    switch (ending.kind) {
      case 'transition': {
        const { toolName, callId, outcome } = ending.settlement;
        return {
          reason: 'transition',
          tool: toolName,
          callId,
          value: outcome.status === 'ok' ? outcome.value : undefined,
        };
      }
      case 'rewind':
        if (this.#checkpoint !== undefined) await rewind(turn, tools, this.#checkpoint, ending.settlement);
        return undefined;
      case 'response':
        await trim(turn, reply, batch);
        return { reason: 'end_turn', by: ending.by, tool: ending.settlement.toolName };
      case 'pending':
        return turn.options.onPending === 'continue' ? undefined : { reason: 'suspended' };
      case 'none':
        return undefined;
    }
  }

  async #afterText(reply: ReplyEntry): Promise<Stop | undefined> {
    const turn = this.#turn;
    if (reply.finishReason === 'length') return await this.#afterLength();
    if (reply.finishReason === 'content-filter') return { reason: 'content_filter' };
    if (turn.contract === undefined) return { reason: 'end_turn', by: 'text' };
    if (turn.progress.textReplies > turn.contract.consecutiveNudges)
      throw new MaxConsecutiveNudgesExceeded(turn.transcript);
    const text = turn.contract.nudgeMessage;
    await record(turn, { kind: 'nudge', why: 'no-call', role: 'system', text });
    turn.emit?.({ type: 'nudge', step: reply.step, text });
    return undefined;
  }

  /** One more try a turn; then the cut reply is what there is. */
  async #afterLength(): Promise<Stop | undefined> {
    const turn = this.#turn;
    if (turn.progress.lengthTries > 0) return { reason: 'length' };
    const text = 'Your last reply was cut off because it was too long. Reply again, shorter.';
    await record(turn, { kind: 'nudge', why: 'length', role: 'user', text });
    turn.emit?.({ type: 'nudge', step: turn.progress.steps, text });
    return undefined;
  }

  /** With a reserve, the model gets one call without tools before the turn stops. */
  async #lastWord(stop: Stop): Promise<Stop> {
    const turn = this.#turn;
    const { reserveMs, reserveTokens } = turn.options;
    const kept =
      (stop.reason === 'deadline' && reserveMs !== undefined) ||
      (stop.reason === 'budget' && stop.dimension === 'tokens' && reserveTokens !== undefined);
    if (!kept) return stop;
    const text = 'Time is up: no more tools can be called. Answer now with what you have.';
    await record(turn, { kind: 'nudge', why: 'last-word', role: 'user', text });
    const limit = new CallLimit({ clock: turn.clock, deadline: turn.deadline, signal: turn.options.signal });
    try {
      await askModel(turn, { ...(await this.#tools()), advertised: [] }, limit);
      turn.progress.open = undefined;
    } finally {
      limit.stop();
    }
    return stop;
  }

  async #tools(): Promise<StepTools> {
    const turn = this.#turn;
    const { max = DEFAULT_REWINDS } = turn.options.rewind ?? {};
    const tools = await stepTools(turn, max > 0);
    if (this.#checkpoint === undefined && Object.values(tools.tools).some(isRewindTool)) {
      await record(turn, { kind: 'checkpoint' });
      this.#checkpoint = new Checkpoint(turn.session, turn.options.rewind);
    }
    return tools;
  }
}

/** What keeps the model from being asked again, if anything does. */
function stopBefore(turn: Turn): Stop | undefined {
  if (turn.limit.hit !== undefined) return stopOfLimit(turn);
  if (turn.contract !== undefined && turn.progress.steps >= turn.contract.maxInvocations)
    throw new MaxInvocationsExceeded(turn.transcript);
  if (turn.progress.steps >= turn.maxSteps) return { reason: 'max_steps' };
  return stopOfBudget(turn);
}

function stopOfLimit(turn: Turn): Stop {
  return turn.limit.hit?.code === 'aborted' ? { reason: 'aborted' } : { reason: 'deadline' };
}

function stopOfBudget(turn: Turn): Stop | undefined {
  const { budget } = turn;
  if (budget === undefined) return undefined;
  if (turn.progress.sinceCheckpoint.some(({ outcome }) => outcome.status === 'error' && outcome.code === 'budget')) {
    return { reason: 'budget', dimension: budget.exhausted() ?? 'toolCalls' };
  }
  const reserve = turn.options.reserveTokens ?? 0;
  const spent =
    budget.limits.tokens !== undefined &&
    budget.used('tokens') + reserve >= budget.limits.tokens &&
    turn.progress.steps > 0;
  return spent ? { reason: 'budget', dimension: 'tokens' } : undefined;
}

function keepLatestOf(tools: StepTools, name: string): string | undefined {
  const definition = Object.hasOwn(tools.tools, name) ? tools.tools[name] : undefined;
  return (definition as { keepLatest?: string } | undefined)?.keepLatest;
}

/** The view's message keeps only the calls that ran. Nothing is trimmed where a provider's metadata would lose its parts. */
async function trim(turn: Turn, reply: ReplyEntry, batch: readonly Ended[]): Promise<void> {
  const { history = turn.contract === undefined ? 'keep' : 'trim' } = turn.options.batch ?? {};
  if (history === 'keep' || reply.content.some((part) => part.providerOptions !== undefined)) return;
  const ran = batch.filter(
    ({ settlement: { outcome } }) => outcome.status !== 'skipped' && outcome.status !== 'cancelled',
  );
  if (ran.length < batch.length)
    await record(turn, { kind: 'trimmed', step: reply.step, keep: ran.map(({ settlement }) => settlement.callId) });
}

function finishStep(turn: Turn, reply: ReplyEntry, batch: readonly Ended[]): void {
  turn.emit?.({ type: 'step.end', step: reply.step, text: reply.text, usage: reply.usage });
  const { onStepFinish } = turn.options;
  if (onStepFinish === undefined) return;
  const call = ({ settlement: { callId, toolName, input } }: Ended) => ({ toolCallId: callId, toolName, input });
  try {
    onStepFinish({
      toolCalls: batch.map(call),
      toolResults: batch.map((one) => ({ ...call(one), output: one.settlement.outcome })),
      text: reply.text,
      usage: reply.usage,
    });
  } catch (error) {
    turn.logger.error('onStepFinish threw. The turn is not affected.', error);
  }
}
