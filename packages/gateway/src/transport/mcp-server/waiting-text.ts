import type { WaitingCall } from '../../domain/calls/waiting-call.ts';
import { clip } from '../../domain/transcript/clip.ts';
import { toJson } from '../../ports/store/schema/json.ts';
import { questionOf } from './question.ts';

export interface Later {
  /** The run that the call began with. */
  readonly runId: string;
  /** The name of the tool that gets its result. */
  readonly getRunName: string;
}

/**
 * The text for a client that cannot be asked, or whose user dismissed the question. Its model reads this too, and gets no tool to
 * answer with: a model must not approve what needs a person's approval.
 */
export function waitsFor(calls: readonly WaitingCall[], { runId, getRunName }: Later): string {
  return [
    'Not done yet: this waits for a person. Do not repeat the call.',
    ...calls.map(howToAnswer),
    `After that, call ${getRunName} with run_id "${runId}" for the result.`,
  ].join('\n');
}

function howToAnswer(call: WaitingCall): string {
  const { callId, runId, toolName, kind, input } = call;
  const answer = kind === 'approval' ? '"approve": true} or {…, "deny": "why"}' : '"result": …}';
  const whole = toJson(input);
  const shown = clip(whole, 500);
  const more = shown === whole ? '' : ` (read all of it with GET /api/calls/${callId})`;
  const about = `"${toolName}" with ${shown}${more}`;
  const what = {
    approval: `Approval of ${about}`,
    input: `${about} asks ${toJson(questionOf(call))}`,
    result: `The result of ${about}`,
  }[kind];
  return `${what}: answer with POST /api/runs/${runId}/tool-results {"callId": "${callId}", ${answer}.`;
}

export function stillRunning({ runId, getRunName }: Later): string {
  return `Run ${runId} is not over yet. Call ${getRunName} again later.`;
}
