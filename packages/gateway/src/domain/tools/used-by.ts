import type { Kysely } from 'kysely';
import type { AgentConfig } from '../../config/agent-config.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';

/** An agent that names a tool, and the reference that it uses. */
export interface ToolUse {
  readonly reference: string;
  readonly agentId: string;
  readonly agentName: string;
}

export async function agentsUsing(db: Kysely<Tables>, references: readonly string[]): Promise<readonly ToolUse[]> {
  if (references.length === 0) return [];
  return await db
    .selectFrom('agent_tools')
    .innerJoin('agents', 'agents.id', 'agent_tools.agent_id')
    .select(['reference', 'agents.id as agentId', 'agents.name as agentName'])
    .where('reference', 'in', references)
    .orderBy('agents.id')
    .execute();
}

/** The agents that have one of these definitions. `reference` is the definition. */
export async function agentsDefinedBy(db: Kysely<Tables>, definitions: readonly string[]): Promise<readonly ToolUse[]> {
  if (definitions.length === 0) return [];
  const rows = await db
    .selectFrom('agents')
    .select(['id as agentId', 'name as agentName', 'config'])
    .where('status', '!=', 'deleted')
    .where('config', 'like', '%"definition":"%')
    .orderBy('id')
    .execute();
  return rows.flatMap(({ agentId, agentName, config }) => {
    const { definition } = fromJson<AgentConfig>(config);
    return definition !== undefined && definitions.includes(definition)
      ? [{ reference: definition, agentId, agentName }]
      : [];
  });
}

/** Stores which tools the agent names now. */
export async function noteToolUses(tx: Tx, agentId: string, { tools = [] }: Pick<AgentConfig, 'tools'>): Promise<void> {
  await tx.db.deleteFrom('agent_tools').where('agent_id', '=', agentId).execute();
  const references = tools.filter((one) => typeof one === 'string');
  if (references.length === 0) return;
  await tx.db
    .insertInto('agent_tools')
    .values(references.map((reference) => ({ agent_id: agentId, reference })))
    .execute();
}
