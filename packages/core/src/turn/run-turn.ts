import { MaxConsecutiveNudgesExceeded, MaxInvocationsExceeded } from '../contract/terminating.ts';
import type { ToolSet } from '../contract/tool-set.ts';
import type { TerminalOutput, TurnResult } from '../contract/turn-result.ts';
import { CallLimit } from '../dispatch/call-limit.ts';
import { outerRun } from '../dispatch/dispatch-options.ts';
import { BudgetUsedUp, OptionsError } from '../errors.ts';
import { startRun } from '../session/call-ends.ts';
import type { LockTicket } from '../session/call-lock.ts';
import { Recording } from '../session/recording.ts';
import type { Entry, ReplyEntry } from '../transcript/entry.ts';
import { toModelMessages, userMessage } from '../transcript/message.ts';
import { goesOn, isFinished } from '../transcript/progress.ts';
import type { Stop } from '../transcript/stop.ts';
import { isTextReply } from '../transcript/text-reply.ts';
import { Transcript } from '../transcript/transcript.ts';
import { checkAnswers, hasNewAnswer, settleLateAnswers } from './answers.ts';
import { askModel } from './ask-model.ts';
import { isUnrun } from './batch-rules.ts';
import { Checkpoint } from './checkpoint.ts';
import { type BatchEnding, decideEnding, type Ended } from './ending.ts';
import { finishStep } from './finish-step.ts';
import { lateEnds } from './late-ends.ts';
import { assertContract, stepTools } from './offer-tools.ts';
import { record, settleUnrun } from './record.ts';
import { DEFAULT_REWINDS, rewind } from './rewind.ts';
import { isKept, settleBatch } from './settle-batch.ts';
import { settleBefore } from './settle-before.ts';
import type { StepTools } from './step-tools.ts';
import { stopBefore, stopOfLimit } from './stop-before.ts';
import { toTurnResult } from './to-turn-result.ts';
import { isNew, openReply, openTurn, type Turn } from './turn.ts';
import { attachTurn } from './turn-error.ts';
import { assertSomethingSaid, type TurnOptions } from './turn-options.ts';

/**
 * Runs steps until the agent stops. docs/turns.md lists what it rejects with; it never rejects for what a tool does.
 */
export function runTurn<T extends ToolSet>(options: TurnOptions<T>): Promise<TurnResult<TerminalOutput<T>>> {
  return runOpened(() => openTurn(options as TurnOptions, runNested), options?.transcript) as Promise<
    TurnResult<TerminalOutput<T>>
  >;
}

/** Runs a turn inside a call. */
export const runNested: Turn['runNested'] = (options, ctx) => runTurn({ ...(options as TurnOptions), parent: ctx });

/** Runs a turn that the caller has opened. */
export async function runOpened(open: () => Turn, transcript?: Transcript): Promise<TurnResult> {
  const turn = openOrFail(open, transcript);
  // Two turns on one session or one transcript never interleave: the second waits.
  const tickets = [turn.session.turns.enter('exclusive'), turn.transcript.turns.enter('exclusive')];
  try {
    return (await waitForLocks(turn, tickets)) ? await runAlone(turn) : endBeforeStart(turn);
  } catch (error) {
    turn.session.recording?.distrust();
    throw await fail(turn, error);
  } finally {
    for (const ticket of tickets) ticket.leave();
    turn.limit.stop();
  }
}

/** An error about options carries the transcript from those options, like every other error of a turn. */
function openOrFail(open: () => Turn, transcript: Transcript = new Transcript()): Turn {
  try {
    return open();
  } catch (error) {
    throw attachTurn(error, { reason: 'error', error }, transcript);
  }
}

/** True if the turn got the session before its limit was reached. */
async function waitForLocks(turn: Turn, tickets: readonly LockTicket[]): Promise<boolean> {
  for (const { ready } of tickets) {
    if (ready === true) continue;
    if (turn.options.parent !== undefined && turn.options.transcript !== undefined)
      throw new OptionsError('transcript', 'is in use by another turn, and a turn inside a call cannot wait for it.');
    if (turn.limit.isHit(await turn.limit.race(ready))) return false;
  }
  return true;
}

/** The turn ended while it waited for the session, so it wrote nothing. */
function endBeforeStart(turn: Turn): TurnResult {
  const stop = stopOfLimit(turn);
  turn.emit?.({ type: 'turn.end', stop });
  return { ...toTurnResult(turn, stop), response: '', output: undefined };
}

async function runAlone(turn: Turn): Promise<TurnResult> {
  checkAnswers(turn);
  assertContract(turn);
  assertSomethingSaid(turn.options);
  const begun = isNew(turn.options);
  const { stop } = turn.progress;
  if (!begun && stop !== undefined && isFinished(stop) && !hasNewAnswer(turn)) {
    turn.emit?.({ type: 'turn.end', stop });
    return toTurnResult(turn, stop);
  }
  startRecording(turn);
  if (begun) await settleBefore(turn);
  await begin(turn, begun);
  const loop = new TurnLoop(turn);
  try {
    const stop = await loop.toStop();
    await record(turn, { kind: 'stop', stop });
    turn.emit?.({ type: 'turn.end', stop });
    return toTurnResult(turn, stop);
  } finally {
    loop.release();
  }
}

/** Continues from what the journal knew after the previous turn: changes that the host made since are written too. */
function startRecording({ session, options: { journal } }: Turn): void {
  session.recording = undefined;
  if (journal === undefined) return;
  session.recorded ??= new Recording(session.state.root);
  session.recorded.check(session.state.root);
  session.recording = session.recorded;
}

/** Records what the turn starts from. A turn that continues starts from where it was. */
async function begin(turn: Turn, begun: boolean): Promise<void> {
  const { prompt, messages = [] } = turn.options;
  const said = [...toModelMessages(messages), ...(prompt === undefined ? [] : [userMessage(prompt)])];
  const entries: Entry[] = said.map((message) => ({ kind: 'message', message }));
  if (begun || !goesOn(turn.progress.stop)) entries.unshift({ kind: 'turn' });
  const writing = entries.length === 0 ? undefined : record(turn, ...entries);
  if (writing !== undefined) await writing;
  // A turn inside a call is part of the surrounding run.
  if (entries[0]?.kind === 'turn' && turn.options.parent === undefined) {
    startRun(turn.session);
    turn.session.recording?.runStarted(turn.session.state.root);
  }
  turn.checkpoint = Checkpoint.find(turn.session, turn.progress.lastCall, turn.options.rewind);
  if (turn.checkpoint === undefined) Checkpoint.forget(turn.session);
  if (turn.progress.waiting.size > 0) await settleLateAnswers(turn);
}

/** Attaches the stop and the transcript to the error, and emits the end. */
async function fail(turn: Turn, error: unknown): Promise<unknown> {
  const stop: Stop = isOfContract(error) ? error.stop : { reason: 'error', error };
  turn.emit?.({ type: 'turn.end', stop });
  return attachTurn(error, stop, turn.transcript);
}

function isOfContract(error: unknown): error is MaxInvocationsExceeded | MaxConsecutiveNudgesExceeded {
  return error instanceof MaxInvocationsExceeded || error instanceof MaxConsecutiveNudgesExceeded;
}

/** A host that counts on its own may refuse a request: the turn stops as if its budget were used up. */
function refusedByHost(error: unknown): Stop {
  if (error instanceof BudgetUsedUp) return { reason: 'budget', dimension: error.dimension };
  throw error;
}

/** The loop. It carries out what the pure files decide. */
class TurnLoop {
  readonly #turn: Turn;

  constructor(turn: Turn) {
    this.#turn = turn;
  }

  async toStop(): Promise<Stop> {
    const turn = this.#turn;
    const late = await lateEnds(turn);
    for (;;) {
      const limited = openReply(turn) === undefined ? (stopOf(decideEnding(late)) ?? stopBefore(turn)) : undefined;
      if (limited !== undefined) return await this.#lastWord(limited);
      const offering = this.#tools();
      const tools = offering instanceof Promise ? await offering : offering;
      const open = openReply(turn);
      const asked = open === undefined ? await askModel(turn, tools, turn.limit).catch(refusedByHost) : { entry: open };
      if (asked === undefined) return await this.#lastWord(stopOfLimit(turn));
      if ('reason' in asked) return asked;
      const reply = asked.entry;
      const batch = reply.calls.length === 0 ? noCalls : await settleBatch(turn, tools, asked);
      finishStep(turn, reply, batch);
      const deciding = this.#afterReply({ batch, late }, reply, tools);
      const stop = deciding instanceof Promise ? await deciding : deciding;
      turn.handled = reply;
      if (stop !== undefined) return stop;
    }
  }

  /** A turn that may be resumed may still be rewound then. */
  release(): void {
    const { checkpoint, progress } = this.#turn;
    if (progress.lastCall !== undefined && goesOn(progress.stop)) checkpoint?.keep(progress.lastCall);
    else checkpoint?.release();
  }

  /** What a reply and its settled batch mean for the turn. Most batches mean nothing, and then nothing is awaited. */
  #afterReply(
    { batch, late }: { readonly batch: readonly Ended[]; readonly late: readonly Ended[] },
    reply: ReplyEntry,
    tools: StepTools,
  ): undefined | Promise<Stop | undefined> {
    const ending = decideEnding(late.length === 0 ? batch : [...late, ...batch]);
    if (ending.kind !== 'none') return this.#perform(ending, batch, reply, tools);
    if (isTextReply(reply)) return this.#afterText(reply);
    // The calls of a cut reply are settled; that the reply was cut is reported to the model separately, once.
    return reply.finishReason === 'length' ? this.#afterLength() : undefined;
  }

  async #perform(
    ending: Exclude<BatchEnding, { kind: 'none' }>,
    batch: readonly Ended[],
    reply: ReplyEntry,
    tools: StepTools,
  ): Promise<Stop | undefined> {
    const turn = this.#turn;
    switch (ending.kind) {
      case 'transition':
        return stopOf(ending);
      case 'rewind':
        await rewind(turn, tools, ending.settlement);
        return undefined;
      case 'response':
        await trim(turn, reply, batch);
        return stopOf(ending);
      case 'pending':
        if (isKept(turn) && hasNewAnswer(turn)) return stopOfLimit(turn);
        return turn.options.onPending === 'continue' ? undefined : { reason: 'suspended' };
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

  /** After a reply that was cut at its length limit, a turn asks once more; a second cut reply is accepted as it is. */
  async #afterLength(): Promise<Stop | undefined> {
    const turn = this.#turn;
    if (turn.progress.lengthTries > 0) return { reason: 'length' };
    const text = 'Your last reply was cut off because it was too long. Reply again, shorter.';
    await record(turn, { kind: 'nudge', why: 'length', role: 'user', text });
    turn.emit?.({ type: 'nudge', step: turn.progress.steps, text });
    return undefined;
  }

  /** With a reserve, the model gets one request in which it may call no tool before the turn stops. */
  async #lastWord(stop: Stop): Promise<Stop> {
    const turn = this.#turn;
    const { reserveMs, reserveTokens } = turn.options;
    const kept =
      (stop.reason === 'deadline' && reserveMs !== undefined) ||
      (stop.reason === 'budget' && stop.dimension === 'tokens' && reserveTokens !== undefined);
    if (!kept || turn.progress.steps >= (turn.contract?.maxInvocations ?? Number.POSITIVE_INFINITY)) return stop;
    const { clock, deadline, options } = turn;
    const limit = new CallLimit({
      clock,
      deadline,
      signal: options.signal,
      within: outerRun(options.parent)?.limit,
      cancellable: true,
    });
    try {
      if (limit.hit === undefined) await this.#askWithoutCalls(limit);
    } finally {
      limit.stop();
    }
    return stop;
  }

  /** If the model calls a tool nevertheless, the call does not run, and is settled like every other. */
  async #askWithoutCalls(limit: CallLimit): Promise<void> {
    const turn = this.#turn;
    const text = 'Time is up: no more tools can be called. Answer now with what you have.';
    await record(turn, { kind: 'nudge', why: 'last-word', role: 'user', text });
    const tools = await this.#tools();
    // The tools stay in the request: providers refuse a history with calls and no tools.
    const { advertised, body: system } = tools;
    const asked = await askModel(turn, { advertised, system, mayCall: false }, limit).catch(refusedByHost);
    if (asked === undefined || 'reason' in asked) return;
    const reply = asked.entry;
    const reason = 'no more tools could be called';
    const batch: Ended[] = [];
    for (const call of reply.calls) {
      const settlement = await settleUnrun(turn, call, { status: 'skipped', reason, text: `Skipped: ${reason}.` });
      batch.push({ role: 'plain', settlement });
    }
    finishStep(turn, reply, batch);
    turn.handled = reply;
  }

  #tools(): StepTools | Promise<StepTools> {
    const { max = DEFAULT_REWINDS } = this.#turn.options.rewind ?? {};
    const offering = stepTools(this.#turn, max > 0);
    return offering instanceof Promise || offering.hasRewind ? this.#withCheckpoint(offering) : offering;
  }

  async #withCheckpoint(offering: StepTools | Promise<StepTools>): Promise<StepTools> {
    const turn = this.#turn;
    const tools = await offering;
    // Only between steps: in the middle of a batch, as a crash may leave it, state and view would not match.
    const between = turn.checkpoint === undefined && openReply(turn) === undefined;
    if (between && tools.hasRewind) {
      const saved = await turn.limit.race(saveHostState(turn));
      // The turn stops before its next step: nothing has been done yet that a checkpoint would have to save.
      if (turn.limit.isHit(saved)) return tools;
      const checkpoint = Checkpoint.take(turn.session, saved);
      await record(turn, { kind: 'checkpoint' });
      turn.checkpoint = checkpoint;
    }
    return tools;
  }
}

function stopOf(ending: BatchEnding): Stop | undefined {
  if (ending.kind === 'response') return { reason: 'end_turn', by: ending.by, tool: ending.settlement.toolName };
  if (ending.kind !== 'transition') return undefined;
  const { toolName, callId, outcome } = ending.settlement;
  return { reason: 'transition', tool: toolName, callId, value: outcome.status === 'ok' ? outcome.value : undefined };
}

async function saveHostState({ options }: Turn): Promise<unknown> {
  return await options.rewind?.checkpoint?.();
}

const noCalls: readonly Ended[] = [];

/**
 * The view's message keeps only the calls that ran. Nothing is trimmed if a provider's metadata would lose its parts.
 */
async function trim(turn: Turn, reply: ReplyEntry, batch: readonly Ended[]): Promise<void> {
  const { history = turn.contract === undefined ? 'keep' : 'trim' } = turn.options.batch ?? {};
  if (history === 'keep' || reply.content.some((part) => part.providerOptions !== undefined)) return;
  const ran = batch.filter(({ settlement }) => !isUnrun(settlement.outcome));
  if (ran.length < batch.length)
    await record(turn, { kind: 'trimmed', step: reply.step, keep: ran.map(({ settlement }) => settlement.callId) });
}
