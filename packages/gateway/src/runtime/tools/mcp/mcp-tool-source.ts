import type { ListedTool, ToolSource } from '../../../domain/tools/listed-tool.ts';
import { describeDefinition } from '../../toolset/tool-catalog.ts';
import type { McpServers } from './mcp-servers.ts';
import { mcpTool } from './mcp-tool.ts';
import { mcpToolName } from './mcp-tool-name.ts';

/** The tools of the MCP servers that agents used recently, for the list of all tools. */
export function mcpToolSource(servers: McpServers): ToolSource {
  return {
    list: () =>
      Promise.all(
        servers.connected().flatMap(({ server, connection }) =>
          connection.snapshot.tools.map(async (definition): Promise<ListedTool> => {
            const name = mcpToolName(server.name, definition.name);
            const described = await describeDefinition(name, mcpTool(definition, server, { connection }), 'mcp');
            const visible = server.tools?.[definition.name]?.visible === true;
            return { ...described, executionType: 'gateway', visible, outputSchema: definition.outputSchema };
          }),
        ),
      ),
  };
}
