import { dispatchRun } from '../dispatch/dispatch-call.ts';
import type { ReadArguments } from '../dispatch/read-arguments.ts';
import type { Answer } from '../results/answer.ts';
import type { Outcome, Settlement } from '../results/outcome.ts';
import type { RequestedCall, SettledEntry } from '../transcript/entry.ts';
import { type BatchPlan, type PlannedCall, planBatch } from './batch-plan.ts';
import { cancelled, refusalOf } from './batch-rules.ts';
import { type Ended, roleAfter } from './ending.ts';
import { answerTo } from './given-answer.ts';
import { endsOfBatch } from './late-ends.ts';
import { toolNamed } from './offer-tools.ts';
import { settleUnrun } from './record.ts';
import type { ReadReply } from './reply.ts';
import { rewindRefusal } from './rewind.ts';
import type { StepTools } from './step-tools.ts';
import type { Turn } from './turn.ts';
import { type CallDetails, TurnCall } from './turn-call.ts';

/** Settles every call of a reply that is not settled yet, in order, and returns them all. */
export function settleBatch(turn: Turn, step: StepTools, reply: FoundReply): Promise<readonly Ended[]> {
  return new Batch(turn, step, reply).settle(planBatch(reply.entry.calls, step.plan));
}

/** A new reply of the model, or one that was found in the transcript, whose arguments are still to be read. */
type FoundReply = Pick<ReadReply, 'entry'> & Partial<ReadReply>;

/** The calls of a reply while they are settled. */
class Batch {
  readonly #turn: Turn;
  readonly #step: StepTools;
  readonly #inputs: readonly ReadArguments[] | undefined;
  /** The earlier settlements, if the reply was found in the transcript. A new reply has none. */
  readonly #settled: ReadonlyMap<string, Settlement> | undefined;
  readonly #isCutOff: boolean;
  readonly #ended: Ended[] = [];

  constructor(turn: Turn, step: StepTools, { entry, inputs }: FoundReply) {
    this.#turn = turn;
    this.#step = step;
    this.#inputs = inputs;
    this.#isCutOff = CUT_OFF.has(entry.finishReason);
    if (inputs === undefined) this.#settled = new Map(turn.progress.settled.map((one) => [one.callId, one]));
  }

  async settle(plan: BatchPlan): Promise<readonly Ended[]> {
    for (const group of plan) {
      const only = group.length === 1 ? group[0] : undefined;
      if (only === undefined) {
        this.#ended.push(...(await this.#settleBeside(group)));
        continue;
      }
      const settling = this.#settleOne(only, false);
      this.#ended.push(this.#toEnded(only, settling instanceof Promise ? await settling : settling));
    }
    return this.#step.plan.transitions === 'last' ? inCallOrder(this.#ended, plan) : this.#ended;
  }

  /** Runs the calls in parallel; if one leaves the loop, the others have ended before it does. */
  async #settleBeside(group: readonly PlannedCall[]): Promise<readonly Ended[]> {
    const settled = await Promise.allSettled(
      group.map(async (call) => this.#toEnded(call, await this.#settleOne(call, true))),
    );
    return settled.map((one) => {
      if (one.status === 'rejected') throw one.reason;
      return one.value;
    });
  }

  #settleOne(call: PlannedCall, beside: boolean): Settlement | Promise<Settlement> {
    return this.#settled === undefined ? this.#start(call, beside) : this.#settleFound(call, this.#settled, beside);
  }

  #toEnded(call: PlannedCall, settlement: Settlement): Ended {
    const { progress, contract } = this.#turn;
    const { ending } = progress;
    if (ending.size > 0 && ending.has(call.callId)) return { role: 'terminal', settlement };
    // Its tool may have become terminal since: the model, or a waiting person, did not know that it would end the turn.
    const role = call.role === 'terminal' && settlement.terminal !== true ? 'plain' : call.role;
    return { role: roleAfter(role, settlement, contract !== undefined), settlement };
  }

  /** A call found in the transcript may be settled, in doubt, or waiting for an answer. */
  #settleFound(
    call: PlannedCall,
    settled: ReadonlyMap<string, Settlement>,
    beside: boolean,
  ): Settlement | Promise<Settlement> {
    const turn = this.#turn;
    const known = settled.get(call.callId);
    if (known !== undefined) return known;
    if (isInDoubt(turn, this.#step, call)) return settleUnrun(turn, call, unknownOutcome(call.toolName));
    const waiting = turn.progress.waiting.get(call.callId);
    if (waiting === undefined) return this.#start(call, beside);
    const answer = answerTo(turn.progress, turn.options.answers, call.callId);
    // An answer that was known in time holds; one that comes after the call's time does not.
    const inTime = answer !== undefined && turn.progress.answers.has(call.callId);
    if (!inTime && isExpired(turn, waiting.settlement)) return expire(turn, call, waiting.settlement);
    if (answer === undefined || isKept(turn)) return waiting.settlement;
    // A call that runs now is kept from it by what ended before it in its batch, as if it had never waited.
    const isToRun = runsWith(answer, waiting.settlement) && !turn.progress.started.has(call.callId);
    const refused = (isToRun ? this.#refusalOfWaiting(call) : undefined) ?? this.#refusalOfRewind(call);
    return this.#runUnless(refused, { call, isCutOff: this.#isCutOff, answer, beside });
  }

  #start(call: PlannedCall, beside: boolean): Settlement | Promise<Settlement> {
    const read = this.#inputs?.[call.place];
    return this.#runUnless(this.#refusal(call), { call, read, isCutOff: this.#isCutOff, answer: undefined, beside });
  }

  #runUnless(
    refused: Outcome | undefined,
    details: CallDetails & { readonly call: PlannedCall },
  ): Settlement | Promise<Settlement> {
    if (refused !== undefined) return settleUnrun(this.#turn, details.call, refused, toHow(details));
    const run = new TurnCall(this.#turn, this.#step, details);
    return details.beside === true ? this.#runBeside(run) : dispatchRun(run);
  }

  /** Registered as running, so that a parallel call may end it with the turn. */
  async #runBeside(run: TurnCall): Promise<Settlement> {
    const { running } = this.#turn;
    running.set(run.callId, run.limit);
    try {
      return await dispatchRun(run);
    } finally {
      running.delete(run.callId);
    }
  }

  /** Why the call is not run, if it is not: what came before it in the batch, or an abort. */
  #refusal(call: PlannedCall): Outcome | undefined {
    const refused = refusalOf(call, this.#ended, this.#turn.rules);
    if (refused !== undefined) return refused;
    if (this.#turn.limit.hit?.code === 'aborted') return cancelled('the turn was aborted');
    return this.#refusalOfRewind(call);
  }

  /** A call that waited may run after one that comes later in the batch and has ended the turn. */
  #refusalOfWaiting(call: PlannedCall): Outcome | undefined {
    const later = call.role === 'plain' ? [] : endsOfBatch(this.#turn, call, this.#step);
    return refusalOf(call, [...this.#ended, ...later], this.#turn.rules);
  }

  #refusalOfRewind(call: PlannedCall): Outcome | undefined {
    return call.role === 'rewind' ? rewindRefusal(this.#turn, this.#step) : undefined;
  }
}

/** The same answer may be given again, so it is known also if the call did not run. */
function toHow({ answer }: CallDetails): Pick<SettledEntry, 'answer'> {
  return answer === undefined ? {} : { answer };
}

/** Finish reasons of a reply that may be incomplete. */
const CUT_OFF: ReadonlySet<string> = new Set(['length', 'content-filter', 'error']);

/** Calls are reported in the order in which they were asked for, whichever ran first. */
function inCallOrder(ended: readonly Ended[], plan: BatchPlan): readonly Ended[] {
  const inOrder: Ended[] = [];
  for (const [index, { place }] of plan.flat().entries()) inOrder[place] = ended[index] as Ended;
  return inOrder;
}

/**
 * Whether a crash found the call running, and it does not run again: it may have acted outside, itself or by a call inside it. Any other
 * may run again, because its draft died with the process. So may an idempotent tool, but not in a turn that is over: then
 * the lost run is all that is known of it.
 */
export function isInDoubt(turn: Turn, step: StepTools, { callId, toolName }: RequestedCall): boolean {
  if (!turn.progress.started.has(callId)) return false;
  const tool = toolNamed(step.tools, toolName);
  if (tool === undefined) return true;
  return !tool.idempotent || turn.limit.hit !== undefined;
}

export function unknownOutcome(toolName: string): Outcome {
  const message = `"${toolName}" was running when the process ended. It may have taken effect or not, and was not run again.`;
  return { status: 'error', code: 'unknown_outcome', message, text: message };
}

/** Whether the time of a waiting call has passed without an answer. */
export function isExpired(turn: Turn, { outcome }: Settlement): boolean {
  return outcome.status === 'pending' && outcome.expiresAt !== undefined && turn.clock.now() >= outcome.expiresAt;
}

/** Whether the tool of a waiting call runs now that it has this answer: it is approved, or it asked. */
export function runsWith(answer: Answer, { outcome }: Settlement): boolean {
  return 'approve' in answer || (outcome.status === 'pending' && outcome.kind === 'input');
}

/** Whether answers are left to the turn that continues, because this one is aborted or out of time. */
export function isKept({ limit, options }: Turn): boolean {
  return limit.hit !== undefined && options.unusedAnswers !== 'end';
}

/** A waiting call whose time has passed has failed. */
export function expire(
  turn: Turn,
  call: RequestedCall,
  waiting: Settlement,
  how: Pick<SettledEntry, 'late'> = {},
): Promise<Settlement> {
  const message = `"${call.toolName}" was not answered in time.`;
  const expired: Outcome = { status: 'error', code: 'expired', message, text: message };
  return settleUnrun(turn, { ...call, input: waiting.input }, expired, how);
}
