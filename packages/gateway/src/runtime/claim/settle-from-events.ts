import type { Entry, Outcome } from '@lastcall/core';
import { statusOfOutcome } from '../../domain/calls/call-status.ts';
import type { ToolResultEvent } from '../../domain/inbox/inbox-event.ts';
import type { WaitingEvent } from '../../domain/inbox/render-inbox.ts';
import { runStream } from '../../domain/streams/stream-names.ts';
import { toJson } from '../../ports/store/schema/json.ts';
import type { Tx } from '../../ports/store/store.ts';

type SettledEntry = Extract<Entry, { kind: 'settled' }>;

/**
 * Settles the calls whose answers came as events, in the transaction that claims the events. Approvals, denials and answers to questions settle nothing here: core
 * still has to run the tool or refuse it. The stream of the run that made the call gets the call's end, long after the
 * run itself has ended.
 */
export async function settleFromEvents(tx: Tx, events: readonly WaitingEvent[]): Promise<SettledEntry[]> {
  const entries: SettledEntry[] = [];
  for (const { event } of events) {
    if (event.type !== 'tool_result') continue;
    const outcome = outcomeOf(event);
    const call = outcome === undefined ? undefined : await findOpen(tx, event.callId);
    if (outcome === undefined || call === undefined) continue;
    const { runId, startedAt, endedAt } = call;
    await tx.db
      .updateTable('calls')
      .set({
        status: 'settled',
        outcome: toJson(outcome),
        outcome_status: statusOfOutcome(outcome),
        settled_at: endedAt,
      })
      .where('id', '=', event.callId)
      .execute();
    const { callId, toolName, input } = event;
    entries.push({ kind: 'settled', settlement: { callId, toolName, input, outcome, startedAt, endedAt } });
    const type = outcome.status === 'ok' ? 'tool-call.complete' : 'tool-call.error';
    tx.emit({ stream: runStream(runId), type, payload: { callId, toolName, input, outcome } });
  }
  return entries;
}

interface OpenCall {
  readonly runId: string;
  /** When the call began to wait, and when it was answered or expired. */
  readonly startedAt: number;
  readonly endedAt: number;
}

/** Undefined for an event of an earlier attempt, which already settled its call. */
async function findOpen(tx: Tx, callId: string): Promise<OpenCall | undefined> {
  const call = await tx.db
    .selectFrom('calls')
    .select(['run_id', 'status', 'created_at', 'waiting_since', 'answered_at'])
    .where('id', '=', callId)
    .executeTakeFirst();
  if (call?.status !== 'pending') return undefined;
  return {
    runId: call.run_id,
    startedAt: call.waiting_since ?? call.created_at,
    endedAt: call.answered_at ?? tx.now(),
  };
}

function outcomeOf({ outcome }: ToolResultEvent): Outcome | undefined {
  switch (outcome.status) {
    case 'ok':
      return { status: 'ok', value: outcome.value, text: toText(outcome.value) };
    case 'error':
      return { status: 'error', code: 'execution', message: outcome.message, text: outcome.message };
    case 'expired': {
      const message = 'No one answered in time.';
      return { status: 'error', code: 'expired', message, text: message };
    }
    case 'approved':
    case 'denied':
    case 'answered':
      return undefined;
  }
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : toJson(value);
}
