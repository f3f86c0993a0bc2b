import type { Kysely } from 'kysely';
import type { AgentConfig } from '../../config/agent-config.ts';
import { isTaskTool } from '../../config/known-tool.ts';
import { findTool, type RegisteredTool } from '../../config/registered-tool.ts';
import { ApiError } from '../../domain/api-error.ts';
import type { ClientTool } from '../../domain/contexts/turn-settings.ts';
import { findToolRows, toRegisteredTool } from '../../domain/tools/stored-tool.ts';
import type { Tables } from '../../ports/store/tables.ts';
import type { Registry } from '../cycle/registry.ts';
import { TASK_TOOLS } from '../tools/task-tools.ts';
import { assertClientTools, type ClientToolLimits } from './check-client-tools.ts';

export interface ToolCheck {
  readonly config: AgentConfig;
  /** Names or ids: of the agent's tools, of the registry, or of the client's. */
  readonly toolIds: readonly string[];
  readonly clientTools: readonly ClientTool[];
  readonly limits: ClientToolLimits;
  /** Whether tools of the registry may be added that the agent does not have. */
  readonly mayAdd: boolean;
}

/** Returns the tools that have to be added to the agent's for this run. Throws 422 for an id that is nobody's, naming it. */
export async function toolsToAdd(db: Kysely<Tables>, registry: Registry, check: ToolCheck): Promise<readonly string[]> {
  const { config, toolIds, clientTools, mayAdd, limits } = check;
  const references = (config.tools ?? []).filter((one) => typeof one === 'string');
  // A tool of the file comes before one of the registry, which need not be asked for it then.
  const ofOthers = [...references, ...toolIds].filter((one) => findTool(registry.tools, one) === undefined);
  const rows = await findToolRows(db, [...new Set(ofOthers)]);
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

/** What a server offers is known only once it is asked: the run finds out. */
function isOfServer({ mcp }: AgentConfig, id: string): boolean {
  return mcp?.servers.some(({ name }) => id.startsWith(`${name}__`)) === true;
}

function unknownTool(id: string): ApiError {
  const message = `"${id}" is no tool of the agent or of the registry: give a tool's name or id.`;
  return new ApiError(422, 'unknown_tool', message, {
    details: { path: 'terminating_config.tool_ids', toolId: id },
  });
}
