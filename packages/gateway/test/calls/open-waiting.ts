import { type OpenedWait, openWait } from '../../src/domain/calls/open-wait.ts';
import { toJson } from '../../src/ports/store/schema/json.ts';
import type { Tx } from '../../src/ports/store/store.ts';

/** Creates a waiting call as a run does: planned, and then opened for an answer. Its thread is the agent's. */
export async function openWaiting(tx: Tx, given: Omit<OpenedWait, 'threadId'>): Promise<number | undefined> {
  const call: OpenedWait = { threadId: given.agentId, ...given };
  const { callId, threadId, agentId, runId, toolName, input } = call;
  await tx.db
    .insertInto('calls')
    .values({
      ...{ id: callId, thread_id: threadId, agent_id: agentId, run_id: runId, step: 1, index: 0, tool_name: toolName },
      ...{ input: toJson(input), status: 'pending', idempotency_key: callId, created_at: tx.now() },
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return await openWait(tx, call);
}
