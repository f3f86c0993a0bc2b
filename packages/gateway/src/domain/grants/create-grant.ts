import { toJson } from '../../ports/store/schema/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import { ApiError } from '../api-error.ts';
import type { Answerer } from '../calls/may-answer.ts';
import { answererId } from '../calls/may-answer.ts';
import type { LockedWait } from '../calls/settle-waiting.ts';
import { newId } from '../new-id.ts';
import { assertConditions, failedCondition } from './condition.ts';
import type { GrantRequest } from './grant.ts';
import { canBeGranted } from './granted-definition.ts';

const HOUR_MS = 3_600_000;

/** With more, a list that people do not read would decide. */
const MOST_OF_TOOL = 100;

export interface NewGrant {
  /** The call that is approved, as it waits. */
  readonly row: LockedWait;
  readonly by: Answerer;
  readonly request: GrantRequest;
  /** The input that was approved. */
  readonly input: unknown;
}

/**
 * Stores a grant in the transaction of the approval that it came with. The caller has checked that `by` may answer the call. A person's
 * grant covers only what that person could have approved: calls in the same space, or in the same conversation.
 */
export async function createGrant(tx: Tx, { row, by, request, input }: NewGrant): Promise<string> {
  const { conditions = [] } = request;
  assertMayGrant(row, by, request);
  assertConditions(conditions);
  const failed = failedCondition(conditions, input);
  if (failed !== undefined)
    throw new ApiError(
      'invalid_answer',
      `The condition on ${failed.field} does not hold for the input that is approved. A grant has to cover the call that it is given with.`,
      { details: { path: 'grant.conditions', field: failed.field } },
    );
  await assertRoom(tx, row);
  const now = tx.now();
  const id = newId(now);
  await tx.db
    .insertInto('grants')
    .values({
      id,
      agent_id: row.agent_id,
      tool_name: row.tool_name,
      lasts: request.for,
      conditions: toJson(conditions),
      definition: row.asked_definition ?? '',
      reach: 'key' in by ? 'agent' : 'thread',
      call_id: row.id,
      run_id: row.run_id,
      thread_id: row.thread_id,
      space_id: row.space_id,
      granted_by: answererId(by),
      created_at: now,
      expires_at: request.for === 'hour' ? now + HOUR_MS : null,
      ended_at: null,
      end_reason: null,
      ended_by: null,
      last_used_at: null,
    })
    .execute();
  return id;
}

function assertMayGrant(
  { tool_name: toolName, asked_definition: asked }: LockedWait,
  by: Answerer,
  { for: lasts }: GrantRequest,
): void {
  if (!canBeGranted(asked))
    throw new ApiError(
      'invalid_answer',
      `Calls of "${toolName}" cannot be granted in advance. Approve this call without \`grant\`.`,
      { details: { path: 'grant' } },
    );
  if (lasts === 'always' && !('key' in by))
    throw new ApiError(
      'forbidden',
      'Only operators may grant calls for always: it needs the scope `write`. Grant them for the run or for one hour.',
      { details: { path: 'grant.for' } },
    );
}

async function assertRoom(tx: Tx, { agent_id: agentId, tool_name: toolName }: LockedWait): Promise<void> {
  const { count } = await tx.db
    .selectFrom('grants')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('agent_id', '=', agentId)
    .where('tool_name', '=', toolName)
    .where('ended_at', 'is', null)
    .where('lasts', '=', 'always')
    .executeTakeFirstOrThrow();
  if (Number(count) >= MOST_OF_TOOL)
    throw new ApiError(
      'too_many',
      `"${toolName}" has ${MOST_OF_TOOL} grants of this agent. Revoke some that are not needed.`,
    );
}

/** The grant that was given with the approval of the call. */
export async function grantOfCall(tx: Tx, callId: string): Promise<string | undefined> {
  const row = await tx.db.selectFrom('grants').select('id').where('call_id', '=', callId).executeTakeFirst();
  return row?.id;
}
