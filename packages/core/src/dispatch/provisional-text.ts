import type { CallRun } from './call-run.ts';

/**
 * What a model reads about a call that waits for an answer from outside. The text may stay in the conversation long
 * after the answer came, so it says how things were when it was written, and where the outcome is found: it never
 * becomes untrue.
 */
export function provisionalText({ toolName, callId }: CallRun, what: 'an answer' | 'approval'): string {
  return `"${toolName}" was sent for ${what} as call ${callId}. The outcome comes later.`;
}
