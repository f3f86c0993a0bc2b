import type { Answer } from '@lastcall/core';
import type { WaitingEvent } from '../../domain/inbox/render-inbox.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Tx } from '../../ports/store/store.ts';

/**
 * Reads the approvals and denials among the events, and the answers to questions. Core needs them as answers, to run
 * the tool or to refuse it; plain results are only shown to the model. An event of an earlier attempt may already have
 * settled its call, or led it to its next question. Such an event is left out.
 */
export async function readDecisions(
  tx: Tx,
  events: readonly Pick<WaitingEvent, 'event'>[],
): Promise<Record<string, Answer>> {
  const answers: Record<string, Answer> = {};
  for (const { event } of events) {
    if (event.type !== 'tool_result') continue;
    const { outcome } = event;
    if (outcome.status === 'approved')
      answers[event.callId] = { approve: true, ...('input' in outcome ? { input: outcome.input } : {}) };
    if (outcome.status === 'denied') answers[event.callId] = { deny: outcome.reason };
    if (outcome.status === 'answered') {
      const answer = await answerOf(tx, event.callId, outcome.round);
      if (answer !== undefined) answers[event.callId] = answer;
    }
  }
  for (const callId of await settledCalls(tx, Object.keys(answers))) delete answers[callId];
  return answers;
}

async function answerOf(tx: Tx, callId: string, round: number): Promise<Answer | undefined> {
  const row = await tx.db
    .selectFrom('calls')
    .select('answer')
    .where('id', '=', callId)
    .where('wait_kind', '=', 'input')
    .where('wait_status', '=', 'resolved')
    .where('rounds', '=', round)
    .executeTakeFirst();
  return row?.answer == null ? undefined : fromJson<Answer>(row.answer);
}

async function settledCalls(tx: Tx, callIds: readonly string[]): Promise<string[]> {
  if (callIds.length === 0) return [];
  const calls = tx.db.selectFrom('calls').select('id').where('id', 'in', callIds).where('status', '=', 'settled');
  return (await calls.execute()).map(({ id }) => id);
}
