import type { AgentStatus } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { type Agent, toAgent } from './agent.ts';
import { lockAgent } from './lock-agent.ts';

/** Pauses the agent: the current run finishes, no other starts, and events wait. */
export async function pauseAgent(tx: Tx, agentId: string): Promise<Agent> {
  return await setStatus(tx, agentId, 'paused');
}

/** Resumes a paused agent. It also retries one whose configuration did not work. */
export async function resumeAgent(tx: Tx, agentId: string): Promise<Agent> {
  const agent = await setStatus(tx, agentId, 'active');
  tx.wake(agentId);
  return agent;
}

async function setStatus(tx: Tx, agentId: string, status: AgentStatus): Promise<Agent> {
  const before = await lockAgent(tx, agentId, 'change');
  if (before.status === status) return toAgent(before);
  const changed = { status, updated_at: tx.now() };
  await tx.db.updateTable('agents').set(changed).where('id', '=', agentId).execute();
  return toAgent({ ...before, ...changed });
}
