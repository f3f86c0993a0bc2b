import type { JsonSchemaObject } from '@lastcall/core';
import { dataSchema } from '../../config/data-schema.ts';
import type { Answerers } from '../../config/tool-config.ts';
import { toJson } from '../../ports/store/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { PendingKind } from './pending-call.ts';

export interface OpenedPending {
  /** The call's own id. Answers use it. */
  readonly callId: string;
  readonly agentId: string;
  readonly runId: string;
  /** The space of its card. */
  readonly spaceId?: string | null | undefined;
  readonly toolName: string;
  readonly kind: PendingKind;
  readonly input: unknown;
  readonly display?: unknown;
  /** Who may answer. Default: every member of the space. */
  readonly answeredBy?: Answerers | undefined;
  /** The schema of a result. It is stored with the call, so that a later configuration does not change it. */
  readonly resultSchema?: JsonSchemaObject | undefined;
  /** The schema of an edited input, for a call that waits for approval. */
  readonly inputSchema?: JsonSchemaObject | undefined;
  readonly expiresAt?: number | undefined;
  /** The definition that the approval is for: see `PendingCallRow`. */
  readonly askedDefinition?: string | undefined;
  /** What the tool needs to continue with the answer: see `PendingCallRow`. */
  readonly resumeState?: string | undefined;
  /** The open call that asks. */
  readonly duringCall?: string | undefined;
  /** True if workers may claim it: a call of an `external` tool. */
  readonly isJob?: boolean | undefined;
}

/**
 * Stores a call until it is answered, expires or is cancelled. The same call may wait several times: for approval, then for input
 * as often as its tool asks, then for its result. Each answer is kept until the next one comes. For a call that waits for input,
 * returns the number of the question.
 */
export async function openPending(tx: Tx, call: OpenedPending): Promise<number | undefined> {
  // A schema that cannot be used would refuse every answer, so it is refused now, while the tool's author can see it.
  const schema = call.kind === 'approval' ? call.inputSchema : call.resultSchema;
  if (schema !== undefined) dataSchema(schema);
  const now = tx.now();
  const waiting = {
    kind: call.kind,
    space_id: call.spaceId ?? null,
    input: toJson(call.input),
    display: call.display === undefined ? null : toJson(call.display),
    answered_by: call.answeredBy === undefined ? null : toJson(call.answeredBy),
    result_schema: schema === undefined ? null : toJson(schema),
    status: 'pending' as const,
    expires_at: call.expiresAt ?? null,
    resolved_at: null,
    resume_state: call.resumeState ?? null,
    asked_definition: call.askedDefinition ?? null,
  };
  const isQuestion = call.kind === 'input';
  const opened = await tx.db
    .insertInto('pending_calls')
    .values({
      call_id: call.callId,
      agent_id: call.agentId,
      run_id: call.runId,
      tool_name: call.toolName,
      ...waiting,
      result: null,
      result_hash: null,
      resolved_by: null,
      late_answers: null,
      created_at: now,
      rounds: isQuestion ? 1 : 0,
      during_call: call.duringCall ?? null,
      ...(call.isJob === true ? { offered_at: now, offers: 1, announce_at: now } : {}),
    })
    .onConflict((conflict) =>
      conflict
        .column('call_id')
        .doUpdateSet((eb) => ({ ...waiting, ...(isQuestion ? { rounds: eb('pending_calls.rounds', '+', 1) } : {}) }))
        .where('pending_calls.kind', '!=', 'result')
        .where('pending_calls.status', '=', 'resolved'),
    )
    .returning('rounds')
    .executeTakeFirst();
  return isQuestion ? opened?.rounds : undefined;
}
