import type { AgentConfig } from '../../config/agent-config.ts';
import { DEFAULT_PROJECT } from '../../config/default-project.ts';
import { withoutNamed, withoutReferences } from '../../config/named-tools.ts';
import type { ToolConfig } from '../../config/tool-config.ts';
import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { ToolRow } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { lockAgentIfExists } from '../agents/lock-agent.ts';
import { updateAgent } from '../agents/update-agent.ts';
import { ApiError, notFound } from '../api-error.ts';
import { endGrantsOfTool } from '../grants/end-grants.ts';
import { newId } from '../new-id.ts';
import { idTaken, ownId } from '../own-id.ts';
import { lockProject } from '../projects/project.ts';
import { checkToolConfig } from './check-tool-config.ts';
import { findToolRow } from './stored-tool.ts';
import { countToolChange } from './tools-version.ts';
import { agentsUsing, registeredSubAgents } from './used-by.ts';

/** True if a tool outside the registry has this name: one of the configuration file. */
type IsTaken = (name: string) => boolean;

interface NewTool {
  /** An id that the caller chooses. Default: a new one. */
  readonly id?: string | undefined;
  readonly isTaken: IsTaken;
  /** Default `default`. */
  readonly project?: string | undefined;
}

/** Registers a tool. `given` is the unchecked configuration as the user wrote it. */
export async function createTool(
  tx: Tx,
  given: unknown,
  { id, isTaken, project = DEFAULT_PROJECT }: NewTool,
): Promise<ToolRow> {
  await lockProject(tx, project);
  const config = await checkToolConfig(tx, given, { isOfFile: isTaken, project });
  if (isTaken(config.name)) throw nameTaken(config.name, 'the configuration file');
  await countToolChange(tx);
  if ((await findToolRow(tx.db, config.name, project)) !== undefined) throw nameTaken(config.name, 'the registry');
  const now = tx.now();
  const row: ToolRow = {
    id: id === undefined ? newId(now) : ownId(id),
    project_id: project,
    name: config.name,
    config: toJson(config),
    version: 1,
    created_at: now,
    updated_at: now,
  };
  const inserted = await tx.db
    .insertInto('tools')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (inserted === undefined) throw idTaken(row.id);
  return row;
}

interface ToolUpdate {
  readonly changes: Readonly<Record<string, unknown>>;
  readonly isTaken: IsTaken;
  /** The project to look in. Default: see findToolRows. */
  readonly project?: string | undefined;
}

/**
 * Changes a tool from the next run of each agent on. Null removes a field; the others stay. Its name stays too, because agents
 * and waiting calls refer to it.
 */
export async function updateTool(
  tx: Tx,
  nameOrId: string,
  { changes, isTaken, project }: ToolUpdate,
): Promise<ToolRow> {
  await countToolChange(tx);
  const before = await requireToolRow(tx, nameOrId, project);
  const merged = Object.entries({ ...fromJson<ToolConfig>(before.config), ...changes });
  const config = await checkToolConfig(tx, Object.fromEntries(merged.filter(([, value]) => value !== null)), {
    isOfFile: isTaken,
    project: before.project_id,
  });
  if (config.name !== before.name) throw nameFixed(before.name);
  const changed = { config: toJson(config), version: before.version + 1, updated_at: tx.now() };
  await tx.db.updateTable('tools').set(changed).where('id', '=', before.id).execute();
  return { ...before, ...changed };
}

/** The agents and the other tools of the registry that named a tool. */
interface DeletedTool {
  readonly takenFrom: readonly string[];
  readonly takenFromTools: readonly string[];
}

/**
 * Deletes a tool, and removes it from the agents and the sub-agents that name it: with an unknown tool they could not run at all. Calls
 * that wait for a result can still be answered.
 */
export async function deleteTool(tx: Tx, nameOrId: string, project?: string): Promise<DeletedTool> {
  await countToolChange(tx);
  const { id, name, project_id } = await requireToolRow(tx, nameOrId, project);
  // Deleted before the agents are looked up: an agent that is about to name the tool has either done so already, or finds it
  // gone.
  await tx.db.deleteFrom('tools').where('id', '=', id).execute();
  const agents = await agentsUsing(tx.db, [name, id], { project: project_id });
  const ids = [...new Set(agents.map(({ agentId }) => agentId))].sort();
  for (const agentId of ids) {
    await takeToolFrom(tx, agentId, [name, id]);
    await endGrantsOfTool(tx, agentId, name);
  }
  return { takenFrom: ids, takenFromTools: await takeFromSubAgents(tx, [name, id], project_id) };
}

async function takeFromSubAgents(tx: Tx, gone: readonly string[], project: string): Promise<readonly string[]> {
  const all = await registeredSubAgents(tx.db, project);
  const naming = all.filter(({ references }) => references.some((one) => gone.includes(one)));
  for (const { row } of naming) {
    const config = toJson(withoutNamed(fromJson<ToolConfig>(row.config), gone));
    const changed = { config, version: row.version + 1, updated_at: tx.now() };
    await tx.db.updateTable('tools').set(changed).where('id', '=', row.id).execute();
  }
  return naming.map(({ row }) => row.id);
}

async function takeToolFrom(tx: Tx, agentId: string, references: readonly string[]): Promise<void> {
  const agent = await lockAgentIfExists(tx, agentId, 'change');
  if (agent === undefined) return;
  const { tools = [], terminating } = fromJson<AgentConfig>(agent.config);
  const toolIds = terminating?.toolIds.filter((one) => !references.includes(one)) ?? [];
  const config = {
    tools: withoutReferences(tools, references),
    // Without a tool that ends them, no run could fulfil the contract.
    terminating: toolIds.length === 0 ? null : { ...terminating, toolIds },
  };
  await updateAgent(tx, { agentId, config });
}

async function requireToolRow(tx: Tx, nameOrId: string, project: string | undefined): Promise<ToolRow> {
  const row = await findToolRow(tx.db, nameOrId, project);
  if (row === undefined) throw notFound('tool', nameOrId);
  return row;
}

function nameTaken(name: string, where: string): ApiError {
  return new ApiError('tool_name_taken', `name "${name}" is already a tool of ${where}. Choose another.`, {
    details: { path: 'name' },
  });
}

function nameFixed(name: string): ApiError {
  const message = `name must stay "${name}": agents and waiting calls refer to it. Register another tool instead.`;
  return new ApiError('invalid_config', message, { details: { path: 'name' } });
}
