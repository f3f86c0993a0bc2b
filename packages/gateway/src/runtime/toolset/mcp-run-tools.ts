import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { mergeToolSets, type ToolSet } from '@lastcall/core';
import type { AgentConfig } from '../../config/agent-config.ts';
import type { McpServerConfig } from '../../config/mcp-server.ts';
import { artifactTypeOf } from '../../domain/artifacts/media-type.ts';
import type { ArtifactFiles } from '../../ports/artifacts/artifact-files.ts';
import type { RunTool, RunTools } from '../run/run-tool.ts';
import { fingerprintOf, type McpDefinition } from '../tools/mcp/mcp-definition.ts';
import type { StoreFile } from '../tools/mcp/mcp-result.ts';
import { type ConnectedServer, connectionKey, type McpServers, serversOf } from '../tools/mcp/mcp-servers.ts';
import type { McpStatus } from '../tools/mcp/mcp-status.ts';
import { type McpTool, mcpTool } from '../tools/mcp/mcp-tool.ts';
import { isToolNameOf, mcpToolName } from '../tools/mcp/mcp-tool-name.ts';
import type { McpSnapshot } from '../tools/mcp/tool-list.ts';
import { advertisedInput } from './advertised-input.ts';
import { currentRun } from './current-run.ts';
import type { Registry } from './registry.ts';

/**
 * Adds the tools of MCP servers to an agent's own. They are read again for each step, and do not change within a step.
 */
export function withMcpTools(own: RunTools, config: AgentConfig, registry: Registry): RunTools {
  const { mcp: pool } = registry;
  const servers = serversOf(config);
  if (pool === undefined || servers.length === 0) return own;
  return addTools(own, servers, { pool, files: registry.images?.files });
}

interface Host {
  readonly pool: McpServers;
  readonly files: ArtifactFiles | undefined;
}

function addTools(own: RunTools, servers: readonly McpServerConfig[], { pool, files }: Host): RunTools {
  let shown: readonly McpSnapshot[] = [];
  let merged = own.tools;
  // Tools of earlier steps stay known, because their calls may still be running.
  const known = new Map<string, ServerTool>();
  const toolsNow = (): ToolSet => {
    const connected = servers.map((server) => ({ server, connection: pool.connection(server) }));
    const snapshots = connected.map(({ connection }) => connection.snapshot);
    if (snapshots.length === shown.length && snapshots.every((one, index) => one === shown[index])) return merged;
    const added = new Map(connected.flatMap((one) => [...toolsOf(one, own.tools, files)]));
    remember(known, added);
    const tools = Object.fromEntries([...added].map(([name, { tool }]) => [name, tool]));
    [shown, merged] = [snapshots, mergeToolSets(own.tools, tools)];
    return merged;
  };
  return {
    get tools() {
      return toolsNow();
    },
    versionOf: (name) => own.versionOf(name) || (known.get(name)?.version() ?? ''),
    middleware: own.middleware,
    isAnyVisible: own.isAnyVisible || servers.some(hasVisibleTool),
    named: (name) => own.named(name) ?? known.get(name)?.named,
    isOfServer: (name) => own.named(name) === undefined && known.has(name),
    isWithoutEffects: (name) => own.isWithoutEffects(name) || known.get(name)?.tool.effects === 'none',
    async ready(options) {
      await Promise.all(servers.map((server) => pool.connection(server).ready(options)));
      // There may be a thousand tools. They are made here, so that the step that offers them is not delayed.
      toolsNow();
      await setImmediate();
    },
    whyMissing(name) {
      if (own.named(name) !== undefined) return undefined;
      const server = servers.find((one) => isToolNameOf(one.name, name));
      return server && whyUnavailable(server, pool.connection(server).status, name);
    },
  };
}

/** A server's tool with the settings of one agent. */
interface ServerTool {
  readonly tool: McpTool;
  readonly named: RunTool;
  version(): string;
}

/** How many tools that are no longer offered stay known. A server may offer different tools each time. */
const MOST_FORMER = 1_000;

function remember(known: Map<string, ServerTool>, added: ReadonlyMap<string, ServerTool>): void {
  for (const [name, one] of added) {
    known.delete(name);
    known.set(name, one);
  }
  // The map is in the order in which the tools were last offered.
  for (const name of known.keys()) {
    if (known.size <= added.size + MOST_FORMER) return;
    known.delete(name);
  }
}

function toolsOf(
  { server, connection }: ConnectedServer,
  own: ToolSet,
  files: ArtifactFiles | undefined,
): ReadonlyMap<string, ServerTool> {
  const allowed = server.allowedTools && new Set(server.allowedTools);
  const tools = new Map<string, ServerTool>();
  for (const definition of connection.snapshot.tools) {
    const name = mcpToolName(server.name, definition.name);
    // The agent's own tools come first: a server cannot replace one by using its name.
    const isFree = !Object.hasOwn(own, name) && !tools.has(name);
    if (!isFree || allowed?.has(definition.name) === false) continue;
    const tool = mcpTool(definition, server, {
      connection,
      people: () => currentRun().people,
      ...(files === undefined ? {} : { files: (isShown) => fileStore(files, isShown) }),
    });
    const isVisible = server.tools?.[definition.name]?.visible === true;
    const { grants } = server.tools?.[definition.name] ?? {};
    const inputSchema = () => advertisedInput(name, tool);
    const named = { name, isJob: false, isSilent: false, isVisible, grants, inputSchema };
    tools.set(name, { tool, named, version: () => versionOf(definition, server) });
  }
  return tools;
}

/** Stores files that a call returned. The people who see the call may read them. */
function fileStore(files: ArtifactFiles, isVisible: boolean): StoreFile {
  const run = currentRun();
  return async (bytes, said) => {
    if (bytes.length > run.services.limits.artifactBytes) return undefined;
    const mediaType = artifactTypeOf(bytes, said);
    return (await run.storeArtifact({ files, bytes, mediaType, isVisible })).url;
  };
}

/** The same definition at another address, or with other credentials, counts as another tool. */
function versionOf(definition: McpDefinition, server: McpServerConfig): string {
  return createHash('sha256').update(connectionKey(server)).update(fingerprintOf(definition)).digest('base64');
}

function hasVisibleTool({ tools = {} }: McpServerConfig): boolean {
  return Object.values(tools).some(({ visible }) => visible === true);
}

/**
 * Explains to a model that called a server's tool why the tool is not available. Undefined if the server is up and has
 * no such tool.
 */
function whyUnavailable(
  { name: server }: McpServerConfig,
  { status, problem, held }: McpStatus,
  toolName: string,
): string | undefined {
  const wasNot = `"${toolName}" was not called`;
  switch (status) {
    case 'connecting':
      return `The MCP server "${server}" is still connecting, so ${wasNot}. Its tools are available once it is connected.`;
    case 'down':
      return `The MCP server "${server}" is down, so ${wasNot}: ${problem}. The gateway keeps trying to connect. Until then, work without its tools.`;
    case 'up':
      return held.some((tool) => mcpToolName(server, tool) === toolName)
        ? `The definition of this tool of the MCP server "${server}" has changed and waits for approval, so ${wasNot}.`
        : undefined;
  }
}
