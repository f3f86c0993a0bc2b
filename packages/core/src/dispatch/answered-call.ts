import type { CallRun } from './call-run.ts';

/**
 * True if an answer ends a call that waits, without its tool. The call was accepted when it began to wait, so the answer counts even if the
 * tool has changed since, or is gone: it may have taken days, and cannot be given again.
 */
export function isEndedByAnswer({ answer, isResumed, shown }: CallRun): boolean {
  return answer !== undefined && !('approve' in answer) && isResumed !== true && shown !== undefined;
}
