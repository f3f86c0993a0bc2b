import type { Tx } from '../../ports/store/store.ts';

/** The grants of an agent that is deleted. */
export async function endGrantsOfAgent(tx: Tx, agentId: string): Promise<void> {
  await tx.db
    .updateTable('grants')
    .set({ ended_at: tx.now(), end_reason: 'agent_deleted' })
    .where('agent_id', '=', agentId)
    .where('ended_at', 'is', null)
    .execute();
}

/** The grants for a tool that is taken from an agent, because it is deleted. */
export async function endGrantsOfTool(tx: Tx, agentId: string, toolName: string): Promise<void> {
  await tx.db
    .updateTable('grants')
    .set({ ended_at: tx.now(), end_reason: 'tool_deleted' })
    .where('agent_id', '=', agentId)
    .where('tool_name', '=', toolName)
    .where('ended_at', 'is', null)
    .execute();
}
