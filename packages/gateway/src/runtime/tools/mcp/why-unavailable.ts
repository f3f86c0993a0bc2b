import type { McpServerConfig } from '../../../config/mcp-server.ts';
import type { McpStatus } from './mcp-status.ts';
import { mcpToolName } from './mcp-tool-name.ts';

/**
 * Explains to a model that called a server's tool why the tool is not available. Undefined if the server is up and has
 * no such tool.
 */
export function whyUnavailable(
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
