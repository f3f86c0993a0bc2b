import type { JsonSchemaObject } from '@lastcall/core';
import type { Updateable } from 'kysely';
import { dataSchema } from '../../config/data-schema.ts';
import type { Answerers } from '../../config/tool-config.ts';
import { toJson } from '../../ports/store/schema/json.ts';
import type { WaitColumns } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { noteWait } from '../notify/note-event.ts';
import type { WaitKind } from './waiting-call.ts';

export interface OpenedWait {
  /** The call's own id. Answers use it. */
  readonly callId: string;
  readonly threadId: string;
  readonly agentId: string;
  readonly runId: string;
  /** The space of its card. */
  readonly spaceId?: string | null | undefined;
  readonly toolName: string;
  readonly kind: WaitKind;
  readonly input: unknown;
  readonly display?: unknown;
  /** Who may answer. Default: every member of the space. */
  readonly answeredBy?: Answerers | undefined;
  /** The schema of a result. It is stored with the call, so that a later configuration does not change it. */
  readonly resultSchema?: JsonSchemaObject | undefined;
  /** The schema of an edited input, for a call that waits for approval. */
  readonly inputSchema?: JsonSchemaObject | undefined;
  readonly expiresAt?: number | undefined;
  /** What the approval is for: see `WaitColumns`. */
  readonly askedDefinition?: string | undefined;
  /** What the tool needs to continue with the answer: see `WaitColumns`. */
  readonly resumeState?: string | undefined;
  /** The open call that asks. */
  readonly duringCall?: string | undefined;
  /** The node of the machine that asks. */
  readonly node?: string | undefined;
  /** True if workers may claim it: a call of an `external` tool. */
  readonly isJob?: boolean | undefined;
  /** True for a call of a fork: no one is notified of it. */
  readonly isFork?: boolean | undefined;
}

/**
 * Stores that a call waits until it is answered, expires or is cancelled. The same call may wait several times: for approval, then
 * for input as often as its tool asks, then for its result. Each answer is kept until the next one comes. A call that waits for its
 * result, or whose answer has not come, is left as it is: a retried run may have opened it before. Returns which question it is, for a
 * call that waits for input.
 */
export async function openWait(tx: Tx, call: OpenedWait): Promise<number | undefined> {
  // A schema that cannot be used would refuse every answer, so it is refused now, while the tool's author can see it.
  const schema = call.kind === 'approval' ? call.inputSchema : call.resultSchema;
  if (schema !== undefined) dataSchema(schema);
  const now = tx.now();
  // Workers may not do what is not approved yet.
  const isOffered = call.isJob === true && call.kind === 'result';
  const wait = {
    wait_kind: call.kind,
    wait_status: 'pending' as const,
    space_id: call.spaceId ?? null,
    display: call.display === undefined ? null : toJson(call.display),
    answerers: call.answeredBy === undefined ? null : toJson(call.answeredBy),
    answer_schema: schema === undefined ? null : toJson(schema),
    expires_at: call.expiresAt ?? null,
    answered_at: null,
    resume_state: call.resumeState ?? null,
    asked_definition: call.askedDefinition ?? null,
    node: call.node ?? null,
    ...(isOffered ? { offered_at: now, offers: 1, announce_at: now } : {}),
  };
  if (call.duringCall !== undefined) {
    if (call.isFork !== true) await noteWait(tx, { ...call, round: 1 });
    return await insertQuestion(tx, call, { ...wait, waiting_since: now, rounds: 1 });
  }
  const opened = await tx.db
    .updateTable('calls')
    .set((eb) => ({
      ...wait,
      input: toJson(call.input),
      waiting_since: eb.fn.coalesce('waiting_since', eb.val(now)),
      rounds: eb('rounds', '+', call.kind === 'input' ? 1 : 0),
    }))
    .where('id', '=', call.callId)
    .where((eb) =>
      eb.or([eb('wait_kind', 'is', null), eb('wait_kind', '!=', 'result').and('wait_status', '=', 'resolved')]),
    )
    .returning('rounds')
    .executeTakeFirst();
  if (opened !== undefined && call.isFork !== true) await noteWait(tx, { ...call, round: opened.rounds });
  return call.kind === 'input' ? opened?.rounds : undefined;
}

/** A question during a call has its own row: the call itself is open, and ends later. */
async function insertQuestion(tx: Tx, question: OpenedWait, wait: Updateable<WaitColumns>): Promise<number> {
  const { callId, threadId, agentId, runId, toolName, input, duringCall } = question;
  await tx.db
    .insertInto('calls')
    .values({
      ...{ id: callId, thread_id: threadId, agent_id: agentId, run_id: runId, step: 0, index: 0, tool_name: toolName },
      ...{
        input: toJson(input),
        status: 'pending',
        idempotency_key: callId,
        created_at: tx.now(),
        during_call: duringCall,
      },
      ...wait,
    })
    .execute();
  return 1;
}
