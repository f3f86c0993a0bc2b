import { z } from 'zod';
import { approveMcpTool, listMcpTools } from '../../../domain/mcp/mcp-tool.ts';
import type { View } from '../../../domain/projects/view.ts';
import type { McpStatus } from '../../../runtime/tools/mcp/mcp-status.ts';
import { type Caller, scopesOf, viewOf } from '../../caller.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { pageFields, pageOf } from '../fields.ts';

/** The state of an MCP server, as this gateway sees it. */
interface ServerStatus extends McpStatus {
  readonly name: string;
  readonly transport: string;
}

const serverSchema = z
  .strictObject({
    name: z.string(),
    transport: z.enum(['http', 'stdio']),
    status: z.enum(['connecting', 'up', 'down']),
    problem: z.string().optional(),
    authorizationUrl: z
      .string()
      .optional()
      .meta({ description: 'The URL at which a person must authorise the gateway in a browser. Shown to admin keys.' }),
    tools: z.array(z.string()),
    held: z.array(z.string()).meta({ description: 'Tools that changed and wait for approval.' }),
    unusable: z.array(z.string()).meta({ description: 'Entries of its list that are left out, and why.' }),
  })
  .meta({ id: 'McpServer' });

const toolSchema = z
  .strictObject({
    id: z.string(),
    server: z.string(),
    name: z.string(),
    status: z.enum(['approved', 'held']),
    definition: z.unknown(),
    approvedAt: z.int(),
    approvedBy: z.string().optional(),
    held: z.strictObject({ fingerprint: z.string(), definition: z.unknown(), since: z.int() }).optional(),
  })
  .meta({ id: 'McpTool' });

export interface McpEndpointOptions {
  /** The servers that this gateway used recently. */
  readonly status?: ((view: View) => readonly ServerStatus[]) | undefined;
  /** Takes the parameters that a browser brings back from an authorization server. */
  readonly finishLogin?: ((query: URLSearchParams) => Promise<void>) | undefined;
}

export const MCP_CALLBACK = '/oauth/callback';

export function mcpEndpoints({ status = () => [], finishLogin }: McpEndpointOptions = {}): readonly Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/mcp/servers',
      summary: 'List MCP servers',
      description: 'The servers that agents of this gateway used in the last minutes, as this gateway sees them.',
      access: 'key',
      answer: z.strictObject({ items: z.array(serverSchema) }),
      handle: async ({ caller }) => ({
        items: status(viewOf(caller)).map((one) => (isAdmin(caller) ? one : withoutUrl(one))),
      }),
    }),
    endpoint({
      method: 'get',
      path: MCP_CALLBACK,
      summary: 'Approve the gateway as an OAuth client',
      description:
        'Authorization servers redirect the browser to this path after a person has authorised the gateway. The `state` is checked.',
      access: 'anyone',
      answer: 'text/plain',
      refusals: [400],
      async respond(_nothing, { request }) {
        await finishLogin?.(new URL(request.url).searchParams);
        return new Response('The gateway is authorised. You can close this page.\n');
      },
    }),
    endpoint({
      method: 'get',
      path: '/api/mcp/tools',
      summary: 'List tools of MCP servers',
      description: 'Each has the approved definition and, if it has changed since, the one that waits for approval.',
      access: 'key',
      query: z.strictObject({ ...pageFields, status: z.enum(['approved', 'held']).optional() }),
      answer: pageOf(toolSchema),
      handle: ({ caller, query }, tx) => listMcpTools(tx.db, { ...query, view: viewOf(caller) }),
    }),
    endpoint({
      method: 'post',
      path: '/api/mcp/tools/{id}/approve',
      summary: 'Approve the changed definition of a tool',
      description:
        'The fingerprint names the definition that was read. Agents have the tool again from their next run on.',
      access: 'key',
      body: z.strictObject({ fingerprint: z.string().min(1).max(200) }),
      answer: toolSchema,
      refusals: [409],
      handle: ({ params, body: { fingerprint }, caller }, tx) =>
        approveMcpTool(tx, {
          id: params.id,
          fingerprint,
          by: approverOf(caller),
        }),
    }),
  ];
}

function approverOf(caller: Caller): string {
  if (caller.kind === 'session') return caller.entityId ?? `session:${caller.sessionId}`;
  return caller.kind === 'key' ? `key:${caller.keyId}` : caller.kind;
}

function isAdmin(caller: Caller): boolean {
  return scopesOf(caller).includes('admin');
}

/** The person who opens the URL decides whose account the agents act with. */
function withoutUrl({ authorizationUrl: _, ...status }: ServerStatus): ServerStatus {
  return status;
}
