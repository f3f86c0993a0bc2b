import { type JsonSchemaObject, jsonSchema } from '@lastcall/core';
import type { Answerers } from '../../config/tool-config.ts';
import type { Services } from '../../ports/services.ts';
import { toJson } from '../../ports/store/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { PendingKind } from './pending-call.ts';

export interface OpenedPending {
  /** The call's own id: it is what answers use. */
  readonly callId: string;
  readonly agentId: string;
  readonly runId: string;
  /** Where its card is. */
  readonly spaceId?: string | null | undefined;
  readonly toolName: string;
  readonly kind: PendingKind;
  readonly input: unknown;
  readonly display?: unknown;
  /** Who may answer. Default: every member of the space. */
  readonly answeredBy?: Answerers | undefined;
  /** What a result must be, of a call that waits for one. Kept with the call: a later configuration changes nothing. */
  readonly resultSchema?: JsonSchemaObject | undefined;
  /** What an edited input must be, of a call that waits for leave to run. */
  readonly inputSchema?: JsonSchemaObject | undefined;
  readonly expiresAt?: number | undefined;
}

/**
 * Keeps a call until it is answered, expires or is cancelled. The same call may wait twice: for leave to run, and then, where the
 * tool itself says so, for its result. What was said the first time is kept until the second answer comes.
 */
export async function openPending({ engine }: Pick<Services, 'engine'>, tx: Tx, call: OpenedPending): Promise<void> {
  // A schema that cannot be used would make every answer fail: it is refused while the tool's author can still see it.
  const schema = call.kind === 'approval' ? call.inputSchema : call.resultSchema;
  if (schema !== undefined) jsonSchema(schema);
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
  };
  await tx.db
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
    })
    .onConflict((conflict) =>
      conflict
        .column('call_id')
        .doUpdateSet(waiting)
        .where('pending_calls.kind', '=', 'approval')
        .where('pending_calls.status', '=', 'resolved'),
    )
    .execute();
  // An agent's thread has the agent's id.
  if (call.expiresAt !== undefined) await engine.enqueue(tx, call.agentId, call.expiresAt);
}
