import { notFound } from '../../domain/api-error.ts';
import { answerCall } from '../../domain/pending/answer-call.ts';
import type { Answerer } from '../../domain/pending/may-answer.ts';
import type { Services } from '../../ports/services.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { TurnCaller, TurnInput } from './turn-request.ts';

interface Given {
  readonly contextId: string;
  readonly runId: string;
  readonly caller: TurnCaller;
  readonly input: TurnInput;
}

/**
 * Answers calls of the context that wait. Returns the run that has the answers, if all were given before. Throws as
 * POST /api/runs/:runId/tool-results answers: 404, 409, 410 or 422.
 */
export async function giveAnswers(
  services: Services,
  tx: Tx,
  { contextId, runId, caller, input }: Given,
): Promise<string | undefined> {
  if (!('answers' in input)) return undefined;
  const by: Answerer = caller.kind === 'key' ? { key: true, keyId: caller.keyId } : { entityId: caller.entityId };
  const repeated: string[] = [];
  let isNew = false;
  for (const [callId, answer] of Object.entries(input.answers)) {
    const askedIn = await runThatAsked(tx, contextId, callId);
    const verdict = await answerCall(services, tx, { runId: askedIn, callId, answer, by, answeringRunId: runId });
    if (verdict.status === 'late') throw verdict.error;
    if (verdict.status === 'resolved') isNew = true;
    else repeated.push(callId);
  }
  return isNew ? undefined : await runThatTook(tx, contextId, repeated);
}

/** A call of another context is not found. */
async function runThatAsked(tx: Tx, contextId: string, callId: string): Promise<string> {
  const call = await tx.db
    .selectFrom('pending_calls')
    .innerJoin('runs', 'runs.id', 'pending_calls.run_id')
    .select('pending_calls.run_id')
    .where('call_id', '=', callId)
    .where('runs.thread_id', '=', contextId)
    .executeTakeFirst();
  if (call === undefined) throw notFound('pending call', callId);
  return call.run_id;
}

async function runThatTook(tx: Tx, contextId: string, callIds: readonly string[]): Promise<string | undefined> {
  if (callIds.length === 0) return undefined;
  const event = await tx.db
    .selectFrom('inbox_events')
    .select('run_id')
    .where('agent_id', '=', contextId)
    .where(
      'event_id',
      'in',
      callIds.flatMap((callId) => [`tool_result:${callId}`, `tool_result:${callId}:decision`]),
    )
    .where('run_id', 'is not', null)
    .orderBy('id', 'desc')
    .executeTakeFirst();
  return event?.run_id ?? undefined;
}
