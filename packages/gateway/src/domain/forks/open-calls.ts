import type { Settlement } from '@lastcall/core';
import type { Insertable, Selectable } from 'kysely';
import { toJson } from '../../ports/store/schema/json.ts';
import type { CallRow } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { definitionPart, toAskedDefinition } from '../grants/granted-definition.ts';
import type { TranscriptRow } from '../transcript/load-transcript.ts';

/** A call of the original that had not ended at the step of the fork. */
export interface OpenCall {
  readonly callId: string;
  /** Its id in the fork. */
  readonly newId: string;
  readonly status: Exclude<CallRow['status'], 'settled'>;
  /** Set if it waits. */
  readonly settlement?: Settlement;
  /** True if it has an answer, with which its instance goes on. */
  readonly isAnswered: boolean;
}

interface RenamedCalls {
  /** The rows as the original has them. */
  readonly rows: readonly TranscriptRow[];
  readonly open: readonly OpenCall[];
  readonly contextId: string;
  readonly runId: string;
  readonly agentId: string;
}

/** Writes the new ids into the copied rows, and adds the calls to those of the fork. */
export async function renameOpenCalls(tx: Tx, { rows, open, contextId, ...owner }: RenamedCalls): Promise<void> {
  for (const { seq, payload } of rows) {
    const renamed = open.reduce((text, { callId, newId }) => text.replaceAll(callId, newId), payload);
    if (renamed === payload) continue;
    const row = tx.db.updateTable('transcript_entries').set({ payload: renamed });
    await row.where('thread_id', '=', contextId).where('seq', '=', seq).execute();
  }
  for (const call of open) {
    const original = tx.db.selectFrom('calls').selectAll().where('id', '=', call.callId);
    const row = await original.executeTakeFirst();
    if (row !== undefined)
      await tx.db
        .insertInto('calls')
        .values(toRow(row, call, { contextId, ...owner }))
        .execute();
  }
}

/** Who answers a call of a fork, and until when, does not depend on what the original asked: no space shows it. */
function toRow(
  row: Selectable<CallRow>,
  { newId: id, status, settlement, isAnswered }: OpenCall,
  { contextId, runId, agentId }: Pick<RenamedCalls, 'contextId' | 'runId' | 'agentId'>,
): Insertable<CallRow> {
  const { step, index, tool_name, input, provider_call_id, created_at } = row;
  const call = { id, thread_id: contextId, agent_id: agentId, run_id: runId, step, index, tool_name, provider_call_id };
  const own = { ...call, created_at, status, idempotency_key: id, input, outcome: null, outcome_status: null };
  const outcome = settlement?.outcome;
  if (settlement === undefined || outcome?.status !== 'pending') return own;
  const { kind, display } = outcome;
  // The columns of the original describe what it waited for last.
  const isSame = row.wait_kind === kind;
  const { asked_definition: asked } = row;
  return {
    ...own,
    input: toJson(settlement.input),
    outcome: toJson(outcome),
    outcome_status: 'waiting',
    wait_kind: kind,
    wait_status: isAnswered ? 'resolved' : 'pending',
    answered_at: isAnswered ? row.answered_at : null,
    waiting_since: row.waiting_since,
    display: display === undefined ? null : toJson(display),
    answer_schema: isSame ? row.answer_schema : null,
    resume_state: isSame ? row.resume_state : null,
    asked_definition: asked === null ? null : toAskedDefinition(definitionPart(asked), undefined),
    node: row.node,
    rounds: row.rounds,
  };
}
