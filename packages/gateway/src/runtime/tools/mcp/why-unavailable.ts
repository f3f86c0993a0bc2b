import type { McpServerConfig } from '../../../config/mcp-server.ts';
import type { McpStatus } from './mcp-connection.ts';
import { mcpToolName } from './mcp-tool-name.ts';

/** Says why a server's tool is not there, for the model that has called it. Undefined: the server is up and has no such tool. */
export function whyUnavailable(
  { name: server }: McpServerConfig,
  { status, problem, held }: McpStatus,
  toolName: string,
): string | undefined {
  const wasNot = `"${toolName}" was not called`;
  switch (status) {
    case 'connecting':
      return `The MCP server "${server}" is still being connected, and ${wasNot}. Its tools are there as soon as it is.`;
    case 'down':
      return `The MCP server "${server}" is down, and ${wasNot}: ${problem}. The gateway goes on trying to connect; until then, do without its tools.`;
    case 'up':
      return held.some((tool) => mcpToolName(server, tool) === toolName)
        ? `The definition of this tool of the MCP server "${server}" has changed and waits for approval, and ${wasNot}.`
        : undefined;
  }
}
