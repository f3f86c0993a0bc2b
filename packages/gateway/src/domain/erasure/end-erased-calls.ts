import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import { cancelWaiting } from '../calls/cancel-waiting.ts';
import { callEndEvent } from '../calls/settle-waiting.ts';
import type { InboxEvent } from '../inbox/inbox-event.ts';

/**
 * Ends a call whose input or answer is erased, or all calls of such a run, before their tools act on what is left: those that wait are cancelled,
 * and those that were approved, and have not started, are denied. What a call that asks keeps until it goes on is erased: it may have a copy, and is
 * encrypted.
 */
export async function endErasedCalls(
  tx: Tx,
  which: { readonly runId: string } | { readonly callId: string },
): Promise<void> {
  await cancelWaiting(tx, which);
  const [column, id] = 'callId' in which ? (['id', which.callId] as const) : (['run_id', which.runId] as const);
  await tx.db
    .updateTable('calls')
    .set({ resume_state: null })
    .where(column, '=', id)
    .where('resume_state', 'is not', null)
    .execute();
  const approved = await tx.db
    .selectFrom('calls')
    .select(['id', 'thread_id', 'wait_kind', 'rounds'])
    .where(column, '=', id)
    .where('wait_kind', '=', 'approval')
    .where('wait_status', '=', 'resolved')
    .where('status', '=', 'pending')
    .execute();
  for (const call of approved) await deny(tx, call.thread_id, callEndEvent(call));
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
    await tx.db
      .updateTable('inbox_events')
      .set({ payload: toJson({ ...event, outcome: { status: 'denied', reason: INPUT_ERASED } }) })
      .where('id', '=', id)
      .execute();
  }
}

/** What the agent reads instead of an answer of a person that is erased before a run has taken it. The call would wait for ever otherwise. */
export function withoutAnswer(event: ToolResultEvent): ToolResultEvent {
  const { outcome } = event;
  if (outcome.status === 'expired') return event;
  if (outcome.status === 'approved' || outcome.status === 'denied')
    return { ...event, outcome: { status: 'denied', reason: ANSWER_ERASED } };
  return { ...event, outcome: { status: 'error', message: ANSWER_ERASED } };
}

type ToolResultEvent = Extract<InboxEvent, { type: 'tool_result' }>;

const INPUT_ERASED = 'The call was approved, and its input was erased before it ran.';
const ANSWER_ERASED = 'The answer was erased before it was read, because the person who gave it was deleted.';
