import { createHash } from 'node:crypto';
import type { Answer } from '@lastcall/core';
import { canonicalJson } from '../../ports/store/schema/json.ts';
import type { GrantRequest } from '../grants/grant.ts';
import type { ToolResultOutcome } from '../inbox/inbox-event.ts';
import type { WaitKind } from './waiting-call.ts';

/** True if a decision answers a call that waits for approval, or a result one that waits for a result. */
export function fitsKind(answer: Answer, kind: WaitKind): boolean {
  const isLeave = 'approve' in answer || 'deny' in answer;
  return isLeave === (kind === 'approval');
}

/** Equal for equal content, regardless of the order of its fields. An approval with a grant is another answer than one without. */
export function hashAnswer(answer: Answer, grant?: GrantRequest): string {
  return createHash('sha256')
    .update(canonicalJson(grant === undefined ? answer : { ...answer, grant }))
    .digest('hex');
}

/** A person may deny without a reason. Otherwise the model would read "denied:" with nothing behind it. */
export function denialReason(given: string): string {
  return given.trim() === '' ? 'No reason was given.' : given;
}

/** The outcome that the agent receives. */
export function toOutcome(answer: Answer): ToolResultOutcome {
  if ('result' in answer) return { status: 'ok', value: answer.result };
  if ('error' in answer) return { status: 'error', message: answer.error };
  if ('deny' in answer) return { status: 'denied', reason: answer.deny };
  return answer.input === undefined ? { status: 'approved' } : { status: 'approved', input: answer.input };
}
