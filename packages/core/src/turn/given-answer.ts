import type { Answer } from '../dispatch/answer.ts';
import type { Settlement } from '../results/outcome.ts';
import type { TurnProgress } from './progress.ts';

/**
 * The answer that ends the wait of a call, if there is one: given now, or known from before a crash. One that led to this
 * very wait (an approval, after which the tool itself said "pending") does not count again.
 */
export function answerTo(
  progress: TurnProgress,
  given: Readonly<Record<string, Answer>> | undefined,
  callId: string,
): Answer | undefined {
  const waiting = progress.waiting.get(callId);
  if (waiting === undefined) return undefined;
  const now = given !== undefined && Object.hasOwn(given, callId) ? given[callId] : undefined;
  return [now, progress.answers.get(callId)].find(
    (answer) => answer !== undefined && fitsWait(answer, waiting.settlement),
  );
}

/** Whether an answer is of the kind that a call waits for: leave to run, or the result. */
export function fitsWait(answer: Answer, { outcome }: Settlement): boolean {
  const isLeave = 'approve' in answer || 'deny' in answer;
  return outcome.status === 'pending' && isLeave === (outcome.kind === 'approval');
}

/** Whether two answers say the same. A store may have put the fields in another order. */
export function sameAnswer(one: Answer, other: Answer): boolean {
  if (one === other) return true;
  try {
    return JSON.stringify(one, sortFields) === JSON.stringify(other, sortFields);
  } catch {
    // What JSON cannot hold can only be the same by being the same.
    return false;
  }
}

function sortFields(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
