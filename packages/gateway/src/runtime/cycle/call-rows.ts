import type { Entry, JournalRecord } from '@lastcall/core';
import { asPlainText } from '../../domain/entities/column-text.ts';
import { insertRow } from '../../ports/store/insert-row.ts';
import { toJson } from '../../ports/store/json.ts';
import { type Params, type Statement, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { CallRow } from '../../ports/store/tables.ts';

type ReplyEntry = Extract<Entry, { kind: 'reply' }>;

/** Inserts the calls of new replies and marks calls as started, as the journal's entries say. */
export function writeCalls(tx: Tx, runId: string, records: readonly JournalRecord[]): void {
  const now = tx.now();
  const started = new Set(records.flatMap(({ entry }) => (entry.kind === 'started' ? [entry.callId] : [])));
  for (const { entry } of records) {
    if (entry.kind !== 'reply') continue;
    for (const row of toCallRows(entry, { runId, now, started })) {
      tx.send(insertCall, row);
      started.delete(row.id);
    }
  }
  for (const callId of started) tx.send(startCall, { callId });
}

function toCallRows(
  { calls, step }: ReplyEntry,
  { runId, now, started }: { runId: string; now: number; started: ReadonlySet<string> },
): CallRow[] {
  return calls.map(({ callId, toolName, input, providerCallId }, index) => ({
    id: callId,
    run_id: runId,
    step,
    index,
    tool_name: asPlainText(toolName, 200),
    input: toJson(input),
    status: started.has(callId) ? 'started' : 'planned',
    outcome: null,
    idempotency_key: callId,
    provider_call_id: providerCallId === undefined ? null : asPlainText(providerCallId, 500),
    created_at: now,
    settled_at: null,
  }));
}

const insertCall = insertRow('calls');

const startCall = statement((db, { callId }: Params<{ callId: string }>) =>
  db.updateTable('calls').set({ status: 'started' }).where('id', '=', callId),
);

export interface CallEnd extends Pick<CallRow, 'status' | 'outcome'> {
  readonly callId: string;
  readonly settledAt: number | null;
}

export const endCall: Statement<CallEnd, unknown> = statement(
  (db, { callId, status, outcome, settledAt }: Params<CallEnd>) =>
    db.updateTable('calls').set({ status, outcome, settled_at: settledAt }).where('id', '=', callId),
);
