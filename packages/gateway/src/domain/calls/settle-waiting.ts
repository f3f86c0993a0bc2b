import type { Selectable } from 'kysely';
import type { CallRow, WaitStatus } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { isId } from '../entities/column-text.ts';
import type { ToolResultOutcome } from '../inbox/inbox-event.ts';
import { pushEvent } from '../inbox/push-event.ts';
import { toWaitingCall } from './waiting-call.ts';

export type LockedWait = Selectable<CallRow>;

/** Locks the call, so that concurrent answers come one after the other and only the first finds it waiting. */
export async function lockWaiting(
  tx: Tx,
  callId: string,
  { skipLocked = false }: { skipLocked?: boolean } = {},
): Promise<LockedWait | undefined> {
  if (!isId(callId)) return undefined;
  const row = tx.db
    .selectFrom('calls')
    .selectAll()
    .where('id', '=', callId)
    .where('wait_kind', 'is not', null)
    .forUpdate();
  return await (skipLocked ? row.skipLocked() : row).executeTakeFirst();
}

interface CallEnd {
  readonly resolvedBy?: { readonly entityId: string; readonly name: string } | undefined;
  /** The run that will continue with the answer, if it already has an id. */
  readonly answeringRunId?: string | undefined;
}

/**
 * Pushes one event for each end to the thread that made the call: the approval, the answer to each question and the later result
 * are separate ends.
 */
export async function pushCallEnd(
  tx: Tx,
  row: LockedWait,
  outcome: ToolResultOutcome,
  { resolvedBy, answeringRunId }: CallEnd = {},
): Promise<void> {
  const call = toWaitingCall(row);
  // The call that asks is still open, and its worker looks for the answer itself.
  if (call.duringCall !== undefined) return;
  await pushEvent(tx, {
    threadId: row.thread_id,
    eventId: callEndEvent(row),
    event: {
      type: 'tool_result',
      callId: call.callId,
      toolName: call.toolName,
      input: call.input,
      outcome,
      ...(resolvedBy === undefined ? {} : { resolvedBy }),
    },
    ...(answeringRunId === undefined ? {} : { runId: answeringRunId }),
  });
}

/** The id of the event for an end of the call: see docs/inbox-and-runs.md. */
export function callEndEvent(row: Pick<LockedWait, 'id' | 'wait_kind' | 'rounds'>): string {
  return `tool_result:${row.id}${suffixOf(row)}`;
}

function suffixOf({ wait_kind: kind, rounds }: Pick<LockedWait, 'wait_kind' | 'rounds'>): string {
  if (kind === 'approval') return ':decision';
  return kind === 'input' ? `:input:${rounds}` : '';
}

/** The columns that end a wait. A question during a call ends with it; a call that waited is settled by the run that gets the answer. */
export function endOfWait(
  { during_call: duringCall }: Pick<LockedWait, 'during_call'>,
  status: WaitStatus,
  { now, callStatus }: { readonly now: number; readonly callStatus: LockedWait['outcome_status'] },
): Partial<LockedWait> {
  return {
    ...{ wait_status: status, answered_at: now },
    ...(duringCall === null ? { outcome_status: callStatus } : { status: 'settled' as const, settled_at: now }),
  };
}
