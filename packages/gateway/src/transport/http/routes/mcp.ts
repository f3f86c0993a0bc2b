import { z } from 'zod';
import { approveMcpTool, listMcpTools } from '../../../domain/mcp/mcp-tool.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { pageFields, pageOf } from '../fields.ts';

/** How an MCP server is, as this gateway sees it. */
export interface ServerStatus {
  readonly name: string;
  readonly transport: string;
  readonly status: 'connecting' | 'up' | 'down';
  readonly problem?: string;
  readonly tools: readonly string[];
  readonly held: readonly string[];
  readonly unusable: readonly string[];
}

const serverSchema = z
  .strictObject({
    name: z.string(),
    transport: z.enum(['http', 'stdio']),
    status: z.enum(['connecting', 'up', 'down']),
    problem: z.string().optional(),
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

/** `status` returns the servers that this gateway used lately. */
export function mcpEndpoints(status: () => readonly ServerStatus[] = () => []): readonly Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/mcp/servers',
      summary: 'List MCP servers',
      description: 'Those that agents of this gateway used in the last minutes, as this gateway sees them.',
      access: 'key',
      answer: z.strictObject({ items: z.array(serverSchema) }),
      handle: async () => ({ items: [...status()] }),
    }),
    endpoint({
      method: 'get',
      path: '/api/mcp/tools',
      summary: 'List tools of MCP servers',
      description:
        'With the definition that was approved and, if it has changed since, the one that waits for approval.',
      access: 'key',
      query: z.strictObject({ ...pageFields, status: z.enum(['approved', 'held']).optional() }),
      answer: pageOf(toolSchema),
      handle: ({ query }, tx) => listMcpTools(tx.db, query),
    }),
    endpoint({
      method: 'post',
      path: '/api/mcp/tools/{id}/approve',
      summary: 'Approve the changed definition of a tool',
      description:
        'The fingerprint names the definition that was read. Agents have the tool again from their next cycle on.',
      access: 'key',
      body: z.strictObject({ fingerprint: z.string().min(1).max(200) }),
      answer: toolSchema,
      refusals: [409],
      handle: ({ params, body: { fingerprint }, caller }, tx) =>
        approveMcpTool(tx, {
          id: params.id,
          fingerprint,
          by: caller.kind === 'key' ? `key:${caller.keyId}` : caller.kind,
        }),
    }),
  ];
}
