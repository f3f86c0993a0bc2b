import type { Answer } from '../results/answer.ts';
import type { Settlement } from '../results/outcome.ts';

/** Whether an answer is of the kind that a call waits for: permission to run, or the result or input. */
export function fitsWait(answer: Answer, { outcome }: Settlement): boolean {
  const isLeave = 'approve' in answer || 'deny' in answer;
  return outcome.status === 'pending' && isLeave === (outcome.kind === 'approval');
}
