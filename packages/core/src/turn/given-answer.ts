import type { Answer } from '../results/answer.ts';
import { fitsWait } from '../transcript/fits-wait.ts';
import type { TurnProgress } from '../transcript/progress.ts';

/**
 * The answer that ends the wait of a call, if there is one: given now, or known from before a crash. An answer that led
 * to this wait (an approval, after which the tool itself returned "pending") does not count again.
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
