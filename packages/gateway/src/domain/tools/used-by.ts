import { type Kysely, sql } from 'kysely';
import type { AgentConfig } from '../../config/agent-config.ts';
import { namedBySubAgent, namedTools } from '../../config/named-tools.ts';
import type { ToolConfig } from '../../config/tool-config.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Tables, ToolRow } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { readRows } from '../entities/page.ts';
import { inView, type View } from '../projects/view.ts';

/** An agent that names a tool, and the reference that it uses. */
export interface ToolUse {
  readonly reference: string;
  readonly agentId: string;
  readonly agentName: string;
  /** The project of the agent. */
  readonly project: string;
}

/** The agents that a caller can see and that name one of these tools. */
export async function agentsUsing(
  db: Kysely<Tables>,
  references: readonly string[],
  view: View,
): Promise<readonly ToolUse[]> {
  if (references.length === 0) return [];
  return await db
    .selectFrom('agent_tools')
    .innerJoin('agents', 'agents.id', 'agent_tools.agent_id')
    .select(['reference', 'agents.id as agentId', 'agents.name as agentName', 'agents.project_id as project'])
    .where('reference', 'in', references)
    .where(inView(view, 'agents'))
    .orderBy('agents.id')
    .execute();
}

export interface RegisteredSubAgent {
  readonly row: ToolRow;
  /** The tools that it names. */
  readonly references: readonly string[];
}

/** The sub-agents of a project's registry, or of all registries. */
export async function registeredSubAgents(
  db: Kysely<Tables>,
  project: string | undefined,
): Promise<readonly RegisteredSubAgent[]> {
  // A text that contains this has its quotes escaped.
  const query = db.selectFrom('tools').selectAll().where(sql<boolean>`config like '%"agentConfig":%'`).orderBy('id');
  const rows = await (project === undefined ? query : query.where('project_id', '=', project)).execute();
  // A damaged sub-agent uses no tools: nothing can run it.
  const { items } = readRows(rows, {
    idOf: ({ id }) => id,
    toItem: (row) => {
      const named = namedBySubAgent(fromJson<ToolConfig>(row.config), []);
      return { row, references: named.map(({ reference }) => reference) };
    },
  });
  return items;
}

/** The agents that a caller can see and that have one of these definitions, themselves or for a sub-agent. `reference` is the definition. */
export async function agentsDefinedBy(
  db: Kysely<Tables>,
  definitions: readonly string[],
  view: View,
): Promise<readonly ToolUse[]> {
  const found: ToolUse[] = [];
  for (const reference of definitions) {
    // A text that contains this has its quotes escaped. A sub-agent of the configuration may have the definition too.
    const named = `%"definition":${JSON.stringify(reference)}%`.replaceAll('_', '\\_');
    const agents = await db
      .selectFrom('agents')
      .select(['id as agentId', 'name as agentName', 'project_id as project'])
      .where('status', '!=', 'deleted')
      .where(inView(view, 'agents'))
      .where(sql<boolean>`config like ${named} escape '\\'`)
      .orderBy('id')
      .execute();
    found.push(...agents.map((agent) => ({ reference, ...agent })));
  }
  return found;
}

/** Stores which tools the agent names now, itself or in a sub-agent that is part of its configuration. */
export async function noteToolUses(tx: Tx, agentId: string, { tools = [] }: Pick<AgentConfig, 'tools'>): Promise<void> {
  await tx.db.deleteFrom('agent_tools').where('agent_id', '=', agentId).execute();
  const references = [...new Set(namedTools(tools, []).map(({ reference }) => reference))];
  if (references.length === 0) return;
  await tx.db
    .insertInto('agent_tools')
    .values(references.map((reference) => ({ agent_id: agentId, reference })))
    .execute();
}
