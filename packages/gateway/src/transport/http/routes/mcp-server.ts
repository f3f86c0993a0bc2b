import { z } from 'zod';
import { ApiError } from '../../../domain/api-error.ts';
import { hasScope } from '../../../domain/keys/scope.ts';
import type { GatewayMcpServer, McpServerOptions } from '../../mcp-server/mcp-server.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';

/**
 * The MCP server. Its package is loaded with the first request, since loading takes a fifth of a second and most gateways get no
 * such request. Both protocols use one path: requests are posted, and clients of 2025 also open a stream and end their session.
 */
export function mcpServerEndpoints(options: McpServerOptions): readonly Endpoint[] {
  let loading: Promise<GatewayMcpServer> | undefined;
  const load = async (): Promise<GatewayMcpServer> => {
    const { createMcpServer } = await import('../../mcp-server/mcp-server.ts');
    return createMcpServer(options);
  };
  const description = 'JSON-RPC of the Model Context Protocol, of 2025 and 2026. Needs a key with scope `write`.';
  return METHODS.map(({ method, summary }) =>
    endpoint({
      method,
      path: '/mcp',
      summary,
      description,
      access: 'key',
      ...(method === 'post' ? { body: message } : {}),
      answer: 'text/event-stream',
      // Most messages change nothing. The transactions of the others write the entries: see mcp-server/audit-mcp.ts.
      audit: 'none',
      refusals: [404],
      handle: async ({ body, caller, address, requestId }) => {
        // Reading a stream needs the scope too: a stream is part of a session, and only keys that may write have one.
        if (caller.kind !== 'key' || !hasScope(caller.scopes, 'write'))
          throw new ApiError('forbidden', 'The MCP server needs a secret key with scope "write".');
        return { keyId: caller.keyId, view: caller.view, address, requestId, body };
      },
      respond: async (from, { request }) => {
        loading ??= load();
        return await (await loading).fetch(request, from);
      },
    }),
  );
}

const message = z
  .union([z.looseObject({}), z.array(z.unknown())])
  .meta({ description: 'A JSON-RPC message, or a list of them.' });

const METHODS = [
  { method: 'post', summary: 'Send a message to the MCP server' },
  { method: 'get', summary: "Stream the messages of an MCP client's session" },
  { method: 'delete', summary: "Delete an MCP client's session" },
] as const;
