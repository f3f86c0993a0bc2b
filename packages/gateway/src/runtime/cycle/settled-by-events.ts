import type { Entry, Outcome } from '@lastcall/core';
import type { ToolResultEvent } from '../../domain/inbox/inbox-event.ts';
import type { WaitingEvent } from '../../domain/inbox/render-inbox.ts';
import { toJson } from '../../ports/store/json.ts';
import type { Tx } from '../../ports/store/store.ts';

/**
 * Answers that came as events settle their calls here, where the events are taken: in the model's view the provisional result
 * gives way to the answer. Decisions do not: the tool is still to run, or to be refused, and core sees to that.
 */
export async function settledByEvents(tx: Tx, events: readonly WaitingEvent[]): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (const { event } of events) {
    if (event.type !== 'tool_result') continue;
    const outcome = outcomeOf(event);
    if (outcome === undefined || !(await isOpen(tx, event.callId))) continue;
    const now = tx.now();
    await tx.db
      .updateTable('calls')
      .set({ status: 'settled', outcome: toJson(outcome), settled_at: now })
      .where('id', '=', event.callId)
      .execute();
    const { callId, toolName, input } = event;
    entries.push({ kind: 'settled', settlement: { callId, toolName, input, outcome, startedAt: now, endedAt: now } });
  }
  return entries;
}

/** An event that is tried again has settled its call the first time. */
async function isOpen(tx: Tx, callId: string): Promise<boolean> {
  const call = await tx.db.selectFrom('calls').select('status').where('id', '=', callId).executeTakeFirst();
  return call?.status === 'pending';
}

function outcomeOf({ outcome }: ToolResultEvent): Outcome | undefined {
  switch (outcome.status) {
    case 'ok':
      return { status: 'ok', value: outcome.value, text: toText(outcome.value) };
    case 'error':
      return { status: 'error', code: 'execution', message: outcome.message, text: outcome.message };
    case 'expired': {
      const message = 'Nobody answered in time.';
      return { status: 'error', code: 'expired', message, text: message };
    }
    case 'approved':
    case 'denied':
      return undefined;
  }
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : toJson(value);
}
