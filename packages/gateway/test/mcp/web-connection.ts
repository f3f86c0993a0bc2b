import { createEgress } from '../../src/ports/egress/egress.ts';
import { McpConnection } from '../../src/runtime/tools/mcp/mcp-connection.ts';
import type { McpCall } from '../../src/runtime/tools/mcp/open-client.ts';
import { KnownSecrets } from '../../src/telemetry/known-secrets.ts';
import type { WebSite } from '../support/web-site.ts';

/** What every call of a tool brings that the test does not look at. */
export const callParts: Omit<McpCall, 'definition'> = {
  input: {},
  signal: new AbortController().signal,
  onProgress: () => {},
  onAsk: async () => ({ action: 'decline' as const }),
};

/** A connection to the site, as a gateway has one to the MCP server "web". */
export function connectTo(site: WebSite): McpConnection {
  return new McpConnection({
    name: 'web',
    transport: 'http',
    connectTimeoutMs: 600_000,
    address: async () => ({ transport: 'http', url: site.url, headers: {} }),
    authorizationUrl: async () => undefined,
    egress: createEgress({ allow: [site.host] }),
    secrets: new KnownSecrets(),
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    findHeld: async () => new Set(),
  });
}
