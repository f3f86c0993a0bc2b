import { asPlainText } from '../../domain/entities/column-text.ts';
import { insertRow } from '../../ports/store/insert-row.ts';
import { toJson } from '../../ports/store/json.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { CallRow } from '../../ports/store/tables.ts';
import type { CallWrite, Write } from './cycle-write.ts';

type WriteOf<Kind extends CallWrite['kind']> = Extract<CallWrite, { kind: Kind }>;

/** Inserts the calls of new replies and marks calls as started. A call that starts in the same transaction is one statement. */
export function writeCalls(tx: Tx, runId: string, writes: readonly Write[]): void {
  const started = new Set(writes.flatMap((write) => (write.kind === 'call-started' ? [write.callId] : [])));
  for (const write of writes) {
    if (write.kind !== 'call-planned') continue;
    const status = started.delete(write.call.callId) ? 'started' : 'planned';
    tx.send(insertCall, toCallRow(write, { runId, status, now: tx.now() }));
  }
  for (const callId of started) tx.send(startCall, { callId });
}

export function endCall(tx: Tx, { callId, status, outcome, outcomeStatus }: WriteOf<'call-ended'>): void {
  tx.send(changeCall, { callId, status, outcome, outcomeStatus, settledAt: status === 'settled' ? tx.now() : null });
}

function toCallRow(
  { call, step, index }: WriteOf<'call-planned'>,
  { runId, status, now }: { runId: string; status: CallRow['status']; now: number },
): CallRow {
  const { callId, toolName, input, providerCallId } = call;
  return {
    id: callId,
    run_id: runId,
    step,
    index,
    tool_name: asPlainText(toolName, 200),
    input: toJson(input),
    status,
    outcome: null,
    outcome_status: null,
    idempotency_key: callId,
    provider_call_id: providerCallId === undefined ? null : asPlainText(providerCallId, 500),
    created_at: now,
    settled_at: null,
  };
}

const insertCall = insertRow('calls');

const startCall = statement((db, { callId }: Params<{ callId: string }>) =>
  db.updateTable('calls').set({ status: 'started' }).where('id', '=', callId),
);

interface CallChange extends Pick<CallRow, 'status' | 'outcome'> {
  readonly callId: string;
  readonly outcomeStatus: string;
  readonly settledAt: number | null;
}

const changeCall = statement((db, { callId, status, outcome, outcomeStatus, settledAt }: Params<CallChange>) =>
  db
    .updateTable('calls')
    .set({ status, outcome, outcome_status: outcomeStatus, settled_at: settledAt })
    .where('id', '=', callId),
);
