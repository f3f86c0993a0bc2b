import type { Answer } from '@lastcall/core';
import type { InboxEvent } from '../../domain/inbox/inbox-event.ts';
import { fromJson } from '../../ports/store/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { EventRow } from './read-thread.ts';

/**
 * Reads the approvals and denials among the events. Core needs them as answers, to run the tool or to refuse it; plain
 * results need only be shown to the model. A retried event may have settled its call the first time, and then it is
 * left out.
 */
export async function readDecisions(tx: Tx, events: readonly EventRow[]): Promise<Record<string, Answer>> {
  const answers: Record<string, Answer> = {};
  for (const { payload } of events) {
    const event = fromJson<InboxEvent>(payload);
    if (event.type !== 'tool_result') continue;
    const { outcome } = event;
    if (outcome.status === 'approved')
      answers[event.callId] = { approve: true, ...('input' in outcome ? { input: outcome.input } : {}) };
    if (outcome.status === 'denied') answers[event.callId] = { deny: outcome.reason };
  }
  for (const callId of await settledCalls(tx, Object.keys(answers))) delete answers[callId];
  return answers;
}

async function settledCalls(tx: Tx, callIds: readonly string[]): Promise<string[]> {
  if (callIds.length === 0) return [];
  const calls = tx.db.selectFrom('calls').select('id').where('id', 'in', callIds).where('status', '=', 'settled');
  return (await calls.execute()).map(({ id }) => id);
}
