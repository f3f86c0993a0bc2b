import type { Tx } from '../../ports/store/store.ts';
import { lockAgentIfExists } from './lock-agent.ts';
import { resumeAgent } from './pause-agent.ts';

/**
 * Lets an agent try again whose configuration did not work. If it still does not, it fails once more, and its events go on waiting. Returns
 * false if the agent was paused or deleted since it was read.
 */
export async function retryInvalidAgent(tx: Tx, agentId: string): Promise<boolean> {
  if ((await lockAgentIfExists(tx, agentId, 'change'))?.status !== 'invalid') return false;
  await resumeAgent(tx, agentId);
  return true;
}

/** The same for all such agents of a project. */
export async function retryInvalidAgentsOf(tx: Tx, project: string): Promise<void> {
  const invalid = tx.db.selectFrom('agents').select('id').where('project_id', '=', project);
  const agents = await invalid.where('status', '=', 'invalid').orderBy('id').execute();
  for (const { id } of agents) await retryInvalidAgent(tx, id);
}
