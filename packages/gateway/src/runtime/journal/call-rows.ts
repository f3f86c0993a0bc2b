import { asPlainText } from '../../domain/entities/column-text.ts';
import { insertRow } from '../../ports/store/insert-row.ts';
import { toJson } from '../../ports/store/schema/json.ts';
import type { CallRow } from '../../ports/store/schema/tables.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { CallWrite, Write } from '../run/run-write.ts';

/** Whose calls are written. */
export interface CallOwner {
  readonly threadId: string;
  readonly agentId: string;
  readonly runId: string;
}

type WriteOf<Kind extends CallWrite['kind']> = Extract<CallWrite, { kind: Kind }>;

/**
 * Inserts the calls of new replies, marks calls as started, and writes how calls ended. Changes of a call in the
 * transaction that inserts it are one statement: a tool without effects has often ended before the insert is written.
 */
export function writeCalls(tx: Tx, owner: CallOwner, writes: readonly Write[]): void {
  const started = new Set(writes.flatMap((write) => (write.kind === 'call-started' ? [write.callId] : [])));
  const ended = new Map(writes.flatMap((write) => (write.kind === 'call-ended' ? [[write.callId, write]] : [])));
  for (const write of writes) {
    if (write.kind !== 'call-planned') continue;
    const { callId } = write.call;
    const row = toCallRow(write, { owner, status: started.delete(callId) ? 'started' : 'planned', now: tx.now() });
    const end = ended.get(callId);
    ended.delete(callId);
    tx.send(insertCall, end === undefined ? row : { ...row, ...endOf(tx, end) });
  }
  for (const callId of started) if (!ended.has(callId)) tx.send(startCall, { callId });
  for (const [callId, end] of ended) tx.send(changeCall, { callId, ...endOf(tx, end) });
}

function endOf(tx: Tx, { status, outcome, outcomeStatus }: WriteOf<'call-ended'>): CallEnd {
  return { status, outcome, outcome_status: outcomeStatus, settled_at: status === 'settled' ? tx.now() : null };
}

function toCallRow(
  { call, step, index }: WriteOf<'call-planned'>,
  { owner, status, now }: { owner: CallOwner; status: CallRow['status']; now: number },
): PlannedCall {
  const { callId, toolName, input, providerCallId } = call;
  return {
    id: callId,
    thread_id: owner.threadId,
    agent_id: owner.agentId,
    run_id: owner.runId,
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

/** What is known of a call when it is planned. */
const PLANNED = [
  'id',
  'thread_id',
  'agent_id',
  'run_id',
  'step',
  'index',
  'tool_name',
  'input',
  'status',
  'outcome',
  'outcome_status',
  'idempotency_key',
  'provider_call_id',
  'created_at',
  'settled_at',
] as const;

type PlannedCall = Pick<CallRow, (typeof PLANNED)[number]>;

const insertCall = insertRow('calls', {
  columns: PLANNED,
  numbers: ['step', 'index', 'created_at', 'settled_at'],
});

const startCall = statement(
  (db, { callId }: Params<{ callId: string }>) =>
    db.updateTable('calls').set({ status: 'started' }).where('id', '=', callId),
  { types: { callId: 'text' }, key: 'callId' },
);

type CallEnd = Pick<CallRow, 'status' | 'outcome' | 'outcome_status' | 'settled_at'>;

const changeCall = statement(
  (db, { callId, status, outcome, outcome_status, settled_at }: Params<CallEnd & { callId: string }>) =>
    db.updateTable('calls').set({ status, outcome, outcome_status, settled_at }).where('id', '=', callId),
  {
    types: { callId: 'text', status: 'text', outcome: 'text', outcome_status: 'text', settled_at: 'bigint' },
    key: 'callId',
  },
);
