import { createSession, type JsonSchemaObject, mergeToolSets, type ToolSet } from '@lastcall/core';
import { advertise } from '@lastcall/core/internal';
import type { AgentConfig } from '../../config/agent-config.ts';
import type { McpServerConfig } from '../../config/mcp-server.ts';
import type { McpSnapshot } from '../tools/mcp/mcp-connection.ts';
import { fingerprintOf } from '../tools/mcp/mcp-definition.ts';
import { type ConnectedServer, type McpServers, serversOf } from '../tools/mcp/mcp-servers.ts';
import { mcpTool } from '../tools/mcp/mcp-tool.ts';
import { mcpToolName } from '../tools/mcp/mcp-tool-name.ts';
import type { CycleTool, CycleTools } from './cycle-tools.ts';

/** Adds the tools of MCP servers to an agent's own. They are read anew for each step, and stay as they are within one. */
export function withMcpTools(own: CycleTools, config: AgentConfig, pool: McpServers | undefined): CycleTools {
  const servers = serversOf(config);
  if (pool === undefined || servers.length === 0) return own;
  const made = madeOf.get(own) ?? addTools(own, servers, pool);
  madeOf.set(own, made);
  return made;
}

/** An agent's own tools are made once, too. */
const madeOf = new WeakMap<CycleTools, CycleTools>();

function addTools(own: CycleTools, servers: readonly McpServerConfig[], pool: McpServers): CycleTools {
  let shown: readonly McpSnapshot[] = [];
  let merged = own.tools;
  // Tools of earlier steps stay known: their calls may still be under way.
  const known = new Map<string, CycleTool>();
  const fingerprints = new Map<string, string>();
  const toolsNow = (): ToolSet => {
    const connected = servers.map((server) => ({ server, connection: pool.connection(server) }));
    const snapshots = connected.map(({ connection }) => connection.snapshot);
    if (snapshots.length === shown.length && snapshots.every((one, index) => one === shown[index])) return merged;
    const added = Object.assign({}, ...connected.map((one) => toolsOf(one, own.tools))) as ToolSet;
    for (const [name, tool] of Object.entries(added)) known.set(name, toCycleTool(name, tool, servers));
    for (const { server, connection } of connected)
      for (const one of connection.snapshot.tools)
        fingerprints.set(mcpToolName(server.name, one.name), fingerprintOf(one));
    [shown, merged] = [snapshots, mergeToolSets(own.tools, added)];
    return merged;
  };
  return {
    get tools() {
      return toolsNow();
    },
    versionOf: (name) => own.versionOf(name) || (fingerprints.get(name) ?? ''),
    middleware: own.middleware,
    isAnyVisible: own.isAnyVisible || servers.some(hasVisibleTool),
    named: (name) => own.named(name) ?? known.get(name),
    isWithoutEffects: (name) =>
      own.isWithoutEffects(name) || (known.has(name) && (merged[name] as { effects?: unknown })?.effects === 'none'),
    async ready(options) {
      await Promise.all(servers.map((server) => pool.connection(server).ready(options)));
    },
  };
}

function toolsOf({ server, connection }: ConnectedServer, own: ToolSet): ToolSet {
  const allowed = server.allowedTools && new Set(server.allowedTools);
  const tools: Record<string, ToolSet[string]> = {};
  for (const definition of connection.snapshot.tools) {
    const name = mcpToolName(server.name, definition.name);
    // The operator's own tool of that name comes first. A server can take the place of none.
    const isFree = !Object.hasOwn(own, name) && !Object.hasOwn(tools, name);
    if (isFree && allowed?.has(definition.name) !== false) tools[name] = mcpTool(definition, server, connection);
  }
  return tools;
}

function toCycleTool(name: string, tool: ToolSet[string], servers: readonly McpServerConfig[]): CycleTool {
  return {
    name,
    isJob: false,
    isVisible: servers.some((server) =>
      Object.entries(server.tools ?? {}).some(
        ([own, { visible }]) => visible && mcpToolName(server.name, own) === name,
      ),
    ),
    async inputSchema() {
      const [advertised] = await advertise({ [name]: tool }, { session: createSession(), pendingAnswered: true });
      return advertised?.type === 'function' ? (advertised.inputSchema as JsonSchemaObject) : undefined;
    },
  };
}

function hasVisibleTool({ tools = {} }: McpServerConfig): boolean {
  return Object.values(tools).some(({ visible }) => visible === true);
}
