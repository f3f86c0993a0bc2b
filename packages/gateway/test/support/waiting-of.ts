import type { World } from './world.ts';

/** The ids of the agent's call that waits or waited for an answer, as an answer needs them. */
export async function waitingOf({ store }: World, agentId: string): Promise<{ callId: string; runId: string }> {
  return await store.db
    .selectFrom('calls')
    .select(['id as callId', 'run_id as runId'])
    .where('agent_id', '=', agentId)
    .where('wait_kind', 'is not', null)
    .executeTakeFirstOrThrow();
}
