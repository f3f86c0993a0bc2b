import { dispatchRun } from '../dispatch/dispatch-call.ts';
import { sameJson } from '../dispatch/same-json.ts';
import { OptionsError } from '../errors.ts';
import { type Answer, assertAnswer } from '../results/answer.ts';
import type { Outcome } from '../results/outcome.ts';
import { renderValue } from '../results/render.ts';
import { fitsWait } from '../transcript/fits-wait.ts';
import { type PlannedCall, planBatch } from './batch-plan.ts';
import { refusalOf } from './batch-rules.ts';
import { answerTo } from './given-answer.ts';
import { endsOfBatch, lateEnds } from './late-ends.ts';
import { stepTools } from './offer-tools.ts';
import { settleUnrun } from './record.ts';
import { expire, isExpired, isInDoubt, isKept, runsWith, unknownOutcome } from './settle-batch.ts';
import type { StepTools } from './step-tools.ts';
import type { Turn } from './turn.ts';
import { TurnCall } from './turn-call.ts';

/**
 * Refuses an answer to a call that is not waiting, and a different answer to a call that already has one, and says
 * which won. Repeating the same answer is allowed: the sender may not have received the confirmation.
 */
export function checkAnswers(turn: Turn): void {
  for (const [callId, answer] of Object.entries(turn.options.answers ?? {})) {
    assertAnswer(answer, `answers.${callId}`);
    const problem = problemOf(turn, callId, answer);
    if (problem !== undefined) throw new OptionsError(`answers.${callId}`, problem);
  }
}

/** Whether an answer is given that a call still waits for. */
export function hasNewAnswer({ options, progress }: Turn): boolean {
  return Object.keys(options.answers ?? {}).some((callId) => answerTo(progress, options.answers, callId) !== undefined);
}

function problemOf({ progress, transcript }: Turn, callId: string, answer: Answer): string | undefined {
  const won = progress.answers.get(callId);
  if (won !== undefined && sameJson(won, answer)) return undefined;
  const waiting = progress.waiting.get(callId)?.settlement;
  if (won !== undefined && (waiting === undefined || fitsWait(won, waiting)))
    return `comes too late: the call was settled by ${renderValue(won)}.`;
  if (waiting === undefined) return notWaiting(transcript, callId);
  if (fitsWait(answer, waiting)) return undefined;
  return waiting.outcome.status === 'pending' && waiting.outcome.kind === 'approval'
    ? 'must be { approve: true, input? } or { deny: reason }: the call waits to be allowed.'
    : 'must be { result } or { error }: the call waits for its result.';
}

function notWaiting({ entries }: Turn['transcript'], callId: string): string {
  const end = entries.findLast((entry) => entry.kind === 'settled' && entry.settlement.callId === callId);
  if (end?.kind !== 'settled') return 'answers no call that is waiting.';
  return `comes too late: the call was settled without an answer (${end.settlement.outcome.status}): ${end.settlement.outcome.text}`;
}

/** Settles calls whose turn continued without their answers. The view adds a separate message for each. */
export async function settleLateAnswers(turn: Turn): Promise<void> {
  for (const [callId, { call, settlement }] of [...turn.progress.waiting]) {
    if (turn.progress.open?.calls.some((one) => one.callId === callId) === true) continue;
    const answer = answerTo(turn.progress, turn.options.answers, callId);
    if (isExpired(turn, settlement) && !turn.progress.answers.has(callId)) {
      await expire(turn, call, settlement, { late: true });
      continue;
    }
    if (answer === undefined || isKept(turn)) continue;
    const step = await stepTools(turn, false);
    if (isInDoubt(turn, step, call)) {
      await settleUnrun(turn, call, unknownOutcome(call.toolName), { late: true });
      continue;
    }
    const [planned] = planBatch([call], step.plan).flat() as [PlannedCall];
    const refused = runsWith(answer, settlement) ? await refusalOfLate(turn, planned, step) : undefined;
    if (refused !== undefined) await settleUnrun(turn, call, refused, { late: true, answer });
    else await dispatchRun(new TurnCall(turn, step, { call, answer, late: true }));
  }
}

/** Only one call of a batch ends its turn or hands over, and only one of those that are answered together, however late they are. */
async function refusalOfLate(turn: Turn, call: PlannedCall, step: StepTools): Promise<Outcome | undefined> {
  if (call.role === 'plain') return undefined;
  return refusalOf(call, [...endsOfBatch(turn, call, step), ...(await lateEnds(turn))], turn.rules);
}
