import type { CallRun } from './call-run.ts';

/**
 * What a model reads about a call that waits for an answer from outside. The text may stay in the conversation long
 * after the answer came, so it says what happened, and that the outcome comes later: it never
 * becomes untrue.
 */
export function provisionalText({ toolName, callId }: CallRun, kind: 'result' | 'approval'): string {
  return `"${toolName}" became pending as call ${callId}${kind === 'approval' ? ', for approval' : ''}. The outcome comes later.`;
}
