import { projectOf } from '../../domain/projects/view.ts';
import type { ListedTool, ToolSource } from '../../domain/tools/listed-tool.ts';
import type { McpServers } from '../tools/mcp/mcp-servers.ts';
import { mcpTool } from '../tools/mcp/mcp-tool.ts';
import { mcpToolName } from '../tools/mcp/mcp-tool-name.ts';
import { describeDefinition } from './tool-catalog.ts';

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
            const project = projectOf(server);
            return { ...described, project, executionType: 'gateway', visible, outputSchema: definition.outputSchema };
          }),
        ),
      ),
  };
}
