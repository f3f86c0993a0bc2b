import type { Kysely } from 'kysely';
import { ApiError } from '../../domain/api-error.ts';
import type { WaitingCall } from '../../domain/calls/waiting-call.ts';
import { leftWaiting, waitingIn } from '../../domain/conversations/asked-calls.ts';
import type { RunAnswer } from '../../domain/conversations/run-answer.ts';
import { settingsOfRuns } from '../../domain/conversations/settings-of-runs.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';

/** The outcome of a run, for both kinds of response. */
export interface Outcome {
  readonly answer: RunAnswer;
  readonly text: string;
  /** Calls of the caller's own tools. The caller runs them and answers them in its next request. */
  readonly calls: readonly WaitingCall[];
  readonly finish: 'stop' | 'length' | 'content_filter' | 'tool_calls';
  /** Fields that only the gateway has. Clients ignore them. */
  readonly extra: object;
}

export async function outcomeOf(db: Kysely<Tables>, answer: RunAnswer): Promise<Outcome> {
  const pending = await waitingCalls(db, answer);
  const hasWaited = pending.length > 0 || answer.stop.reason === 'suspended';
  const names = hasWaited ? await toolsOfCaller(db, answer.runId) : [];
  // Also those that were answered since: a response that is read again is the same response.
  const calls = await leftWaiting(db, answer.runId, names);
  const others = pending.filter(({ toolName }) => !names.includes(toolName));
  return {
    answer,
    text: answer.response === '' && calls.length === 0 && others.length > 0 ? waitingText(others) : answer.response,
    calls,
    finish: calls.length > 0 ? 'tool_calls' : (FINISH[answer.stop.reason] ?? 'stop'),
    extra: extraOf(answer, others),
  };
}

/**
 * The error for a run that a limit stopped before it could answer: an empty answer would tell the caller nothing. A run that has answered in
 * part is cut off like one that reached its length.
 */
export function quotaError({ stop, response, pending, runId, contextId }: RunAnswer): ApiError | undefined {
  if (stop.reason !== 'budget' || response !== '' || pending.length > 0) return undefined;
  const what = stop.dimension === 'toolCalls' ? 'calls of tools' : stop.dimension;
  return new ApiError(
    'insufficient_quota',
    `The run reached a limit of ${what} before it could answer: that of the run, or of the agent, the person or the project for today. ` +
      'Raise the limit, or try again on the next day, in UTC.',
    { details: { run_id: runId, context_id: contextId, stop } },
  );
}

const FINISH: Readonly<Record<string, Outcome['finish']>> = {
  max_steps: 'length',
  budget: 'length',
  deadline: 'length',
  length: 'length',
  content_filter: 'content_filter',
};

/** A run that received only some of the answers still waits for calls of the run before it. */
async function waitingCalls(db: Kysely<Tables>, answer: RunAnswer): Promise<readonly WaitingCall[]> {
  if (answer.pending.length > 0 || answer.stop.reason !== 'suspended') return answer.pending;
  return await waitingIn(db, answer.contextId);
}

async function toolsOfCaller(db: Kysely<Tables>, runId: string): Promise<readonly string[]> {
  const [{ clientTools = [] } = {}] = await settingsOfRuns(db, [runId]);
  return clientTools.map(({ name }) => name);
}

/** A chat page shows only text. Without this text, the person would wait for an agent that waits for them. */
function waitingText(calls: readonly WaitingCall[]): string {
  const names = calls.map(({ toolName, kind }) => (kind === 'approval' ? `approval of ${toolName}` : toolName));
  return `This waits for an answer to: ${names.join(', ')}. The agent continues when it is answered.`;
}

function extraOf({ runId, contextId, stop }: RunAnswer, others: readonly WaitingCall[]): object {
  return {
    stop,
    run_id: runId,
    context_id: contextId,
    ...(others.length === 0
      ? {}
      : {
          pending_calls: others.map(({ callId, toolName, input, kind }) => ({
            tool_call_id: callId,
            tool_name: toolName,
            tool_input: input,
            kind,
          })),
        }),
  };
}
