import type { Kysely } from 'kysely';
import type { AgentConfig } from '../../config/agent-config.ts';
import { isTaskTool } from '../../config/known-tool.ts';
import { findTool, type RegisteredTool } from '../../config/registered-tool.ts';
import { ApiError } from '../../domain/api-error.ts';
import type { ClientTool } from '../../domain/conversations/turn-settings.ts';
import { findToolRows, toRegisteredTool } from '../../domain/tools/stored-tool.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { TASK_TOOLS } from '../tools/task-tools.ts';
import type { Registry } from '../toolset/registry.ts';
import { assertClientTools, type ClientToolLimits } from './check-client-tools.ts';

export interface ToolCheck {
  readonly config: AgentConfig;
  /** The project whose registry is read. */
  readonly project: string;
  /** Names or ids of the agent's tools, of tools in the registry, or of the client's tools. */
  readonly toolIds: readonly string[];
  readonly clientTools: readonly ClientTool[];
  readonly limits: ClientToolLimits;
  /** True if tools of the registry that the agent does not have may be added. */
  readonly mayAdd: boolean;
}

/**
 * Returns the tools that have to be added to the agent's for this run. Throws 422 and names the id if no tool has it.
 */
export async function toolsToAdd(db: Kysely<Tables>, registry: Registry, check: ToolCheck): Promise<readonly string[]> {
  const { config, project, toolIds, clientTools, mayAdd, limits } = check;
  const references = (config.tools ?? []).filter((one) => typeof one === 'string');
  // Tools of the configuration file come before those of the registry, so the registry is not read for them.
  const ofOthers = [...references, ...toolIds].filter((one) => findTool(registry.tools, one) === undefined);
  const rows = await findToolRows(db, [...new Set(ofOthers)], project);
  const ofRegistry = Object.fromEntries(rows.map((row) => [row.name, toRegisteredTool(row)]));
  const find = (reference: string): RegisteredTool | undefined =>
    findTool(registry.tools, reference) ?? findTool(ofRegistry, reference) ?? findTool(TASK_TOOLS, reference);
  const own = new Set(
    (config.tools ?? []).map((one) => (typeof one === 'string' ? (find(one)?.name ?? one) : one.name)),
  );
  assertClientTools(clientTools, {
    limits,
    isTaken: (name) => own.has(name),
    isOfServer: (name) => isOfServer(config, name),
  });
  const added = new Map<string, string>();
  for (const id of toolIds) {
    const name = find(id)?.name ?? id;
    if (own.has(name) || own.has(id) || clientTools.some((one) => one.name === id) || isOfServer(config, id)) continue;
    const isAllowed = mayAdd || isTaskTool(id);
    if (find(id) === undefined || !isAllowed) throw unknownTool(id);
    added.set(name, id);
  }
  return [...added.values()];
}

/** A server's tools are known only after it was asked, so the run checks them. */
function isOfServer({ mcp }: AgentConfig, id: string): boolean {
  return mcp?.servers.some(({ name }) => id.startsWith(`${name}__`)) === true;
}

function unknownTool(id: string): ApiError {
  const message = `"${id}" is not a tool of the agent or the registry: give a tool's name or id.`;
  return new ApiError('unknown_tool', message, {
    details: { path: 'terminating_config.tool_ids', toolId: id },
  });
}
