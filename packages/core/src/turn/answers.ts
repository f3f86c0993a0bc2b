import type { Answer } from '../dispatch/answer.ts';
import { dispatchRun } from '../dispatch/dispatch-call.ts';
import { OptionsError } from '../errors.ts';
import type { Settlement } from '../results/outcome.ts';
import type { RequestedCall } from './entry.ts';
import { userMessage } from './message.ts';
import { toRun } from './settle-batch.ts';
import { stepTools } from './step-tools.ts';
import { record, type Turn } from './turn.ts';

/** Refuses an answer to a call that is not waiting, and another answer to a call that has one, saying which won. */
export function checkAnswers(turn: Turn): void {
  for (const [callId, answer] of Object.entries(turn.options.answers ?? {})) {
    checkShape(callId, answer);
    const won = turn.progress.answers.get(callId);
    if (won !== undefined) {
      if (same(won, answer)) continue;
      throw new OptionsError(`answers.${callId}`, `comes too late: the call was settled by ${JSON.stringify(won)}.`);
    }
    if (!turn.progress.waiting.has(callId))
      throw new OptionsError(`answers.${callId}`, 'answers no call that is waiting.');
  }
}

function checkShape(callId: string, answer: Answer): void {
  const keys = typeof answer === 'object' && answer !== null ? Object.keys(answer) : [];
  const kinds = keys.filter((key) => ['result', 'error', 'approve', 'deny'].includes(key));
  if (kinds.length !== 1)
    throw new OptionsError(
      `answers.${callId}`,
      'must be { result }, { error }, { approve: true, input? } or { deny: reason }.',
    );
}

function same(one: Answer, other: Answer): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Answers to calls whose turn went on without them: each is told to the model as a message of its own. */
export async function settleLateAnswers(turn: Turn): Promise<void> {
  const { answers = {} } = turn.options;
  for (const [callId, { call, settlement }] of [...turn.progress.waiting]) {
    const answer = answers[callId];
    const isOpen = turn.progress.open?.calls.some((one) => one.callId === callId) === true;
    if (answer === undefined || isOpen) continue;
    await settleLate(turn, call, settlement, answer);
  }
}

async function settleLate(turn: Turn, call: RequestedCall, waiting: Settlement, answer: Answer): Promise<void> {
  const step = await stepTools(turn, false);
  const settled = await dispatchRun(toRun(turn, step, call, { answer, late: true }));
  const { toolName, input } = waiting;
  const text = `The answer to call ${call.callId} (${toolName} ${JSON.stringify(input)}) has come:\n\n${settled.outcome.text}`;
  await record(turn, { kind: 'message', message: userMessage(text) });
}
