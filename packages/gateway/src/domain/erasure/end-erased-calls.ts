import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import { cancelWaiting } from '../calls/cancel-waiting.ts';
import { callEndEvent } from '../calls/settle-waiting.ts';
import type { InboxEvent } from '../inbox/inbox-event.ts';

/**
 * Ends a call whose input is erased, or all calls of such a run, before their tools act on what is left: those that wait are cancelled, and those
 * that were approved, and have not started, are denied.
 */
export async function endErasedCalls(
  tx: Tx,
  which: { readonly runId: string } | { readonly callId: string },
): Promise<void> {
  await cancelWaiting(tx, which);
  const calls = tx.db
    .selectFrom('calls')
    .select(['id', 'thread_id', 'wait_kind', 'rounds'])
    .where('wait_kind', '=', 'approval')
    .where('wait_status', '=', 'resolved')
    .where('status', '=', 'pending');
  const approved = 'callId' in which ? calls.where('id', '=', which.callId) : calls.where('run_id', '=', which.runId);
  for (const call of await approved.execute()) await deny(tx, call.thread_id, callEndEvent(call));
}

/** The run that takes the approval reads a denial. A run that has taken it already has it in memory: this is for its next attempt. */
async function deny(tx: Tx, threadId: string, eventId: string): Promise<void> {
  const events = tx.db
    .selectFrom('inbox_events')
    .select(['id', 'payload'])
    .where('thread_id', '=', threadId)
    .where('event_id', '=', eventId);
  for (const { id, payload } of await events.execute()) {
    const event = fromJson<InboxEvent>(payload);
    if (event.type !== 'tool_result' || event.outcome.status !== 'approved') continue;
    const denied: InboxEvent = { ...event, outcome: { status: 'denied', reason: ERASED_BEFORE } };
    await tx.db
      .updateTable('inbox_events')
      .set({ payload: toJson(denied) })
      .where('id', '=', id)
      .execute();
  }
}

const ERASED_BEFORE = 'The call was approved, and its input was erased before it ran.';
