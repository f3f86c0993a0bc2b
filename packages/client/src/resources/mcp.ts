import type { Connection, RequestOptions } from '../connection.ts';
import type { Operations } from '../wire.generated.ts';

type Ops = Operations;

/** MCP servers that agents use, and their tools. */
export interface Mcp {
  servers(options?: RequestOptions): Promise<Ops['GET /api/mcp/servers']['answer']>;
  tools(
    query?: Ops['GET /api/mcp/tools']['query'],
    options?: RequestOptions,
  ): Promise<Ops['GET /api/mcp/tools']['answer']>;
  /** Approves the changed definition with this fingerprint: no other one. */
  approve(
    id: string,
    fingerprint: string,
    options?: RequestOptions,
  ): Promise<Ops['POST /api/mcp/tools/{id}/approve']['answer']>;
}

export function mcp({ call }: Connection): Mcp {
  return {
    servers: (options) => call('GET /api/mcp/servers', options),
    tools: (query, options) => call('GET /api/mcp/tools', { query, ...options }),
    approve: (id, fingerprint, options) =>
      call('POST /api/mcp/tools/{id}/approve', { params: { id }, body: { fingerprint }, ...options }),
  };
}
