import { notFound } from '../../domain/api-error.ts';
import { answerCall } from '../../domain/calls/answer-call.ts';
import { LateAnswer } from '../../domain/calls/keep-late.ts';
import type { Answerer } from '../../domain/calls/may-answer.ts';
import { runThatTook } from '../../domain/conversations/asked-calls.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { TurnCaller, TurnInput } from './turn-request.ts';

interface Given {
  readonly contextId: string;
  readonly runId: string;
  readonly caller: TurnCaller;
  readonly input: TurnInput;
}

/**
 * Answers waiting calls of the conversation. If all answers were given before, returns the run that took them. Throws the
 * same errors as POST /api/runs/:runId/tool-results: 404, 409, 410 or 422. `keepLate` stores late answers after the
 * rollback.
 */
export async function giveAnswers(tx: Tx, { contextId, runId, caller, input }: Given): Promise<string | undefined> {
  if (!('answers' in input)) return undefined;
  const by = answererOf(caller);
  const repeated: string[] = [];
  let isNew = false;
  for (const [callId, answer] of Object.entries(input.answers)) {
    const askedIn = await runThatAsked(tx, contextId, callId);
    const answered = { runId: askedIn, callId, answer, by, answeringRunId: runId };
    const result = await answerCall(tx, answered);
    if (result.status === 'late') throw new LateAnswer(result.error, answered);
    if (result.status === 'resolved') isNew = true;
    else repeated.push(callId);
  }
  return isNew ? undefined : await runThatTook(tx.db, contextId, repeated);
}

export function answererOf(caller: TurnCaller): Answerer {
  const { entityId } = caller;
  return caller.kind === 'key' ? { key: true, keyId: caller.keyId, entityId } : { entityId: caller.entityId };
}

/** A call of another conversation is not found. */
async function runThatAsked(tx: Tx, contextId: string, callId: string): Promise<string> {
  const call = await tx.db
    .selectFrom('calls')
    .select('run_id')
    .where('id', '=', callId)
    .where('thread_id', '=', contextId)
    .where('wait_kind', 'is not', null)
    .executeTakeFirst();
  if (call === undefined) throw notFound('waiting call', callId);
  return call.run_id;
}
