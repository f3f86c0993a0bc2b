import type { World } from './world.ts';

/** The call of the agent that waits or waited for an answer, as an answer names it. */
export async function pendingOf({ store }: World, agentId: string): Promise<{ callId: string; runId: string }> {
  return await store.db
    .selectFrom('pending_calls')
    .select(['call_id as callId', 'run_id as runId'])
    .where('agent_id', '=', agentId)
    .executeTakeFirstOrThrow();
}
