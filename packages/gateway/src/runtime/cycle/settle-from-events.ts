import type { Entry, Outcome } from '@lastcall/core';
import type { ToolResultEvent } from '../../domain/inbox/inbox-event.ts';
import type { WaitingEvent } from '../../domain/inbox/render-inbox.ts';
import { toJson } from '../../ports/store/json.ts';
import type { Tx } from '../../ports/store/store.ts';

type SettledEntry = Extract<Entry, { kind: 'settled' }>;

/**
 * Settles the calls whose answers came as events, in the transaction that claims the events: the model then sees the
 * answer in place of the provisional result. Approvals and denials settle nothing here: core still has to run the tool
 * or refuse it.
 */
export async function settleFromEvents(tx: Tx, events: readonly WaitingEvent[]): Promise<SettledEntry[]> {
  const entries: SettledEntry[] = [];
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

/** A retried event has settled its call the first time. */
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
