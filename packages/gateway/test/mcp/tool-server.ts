import { startWebSite, type WebSite } from '../support/web-site.ts';
import type { Message } from './misbehaving-server.ts';

interface ToolServerOptions {
  /** The names of the tools, page by page. */
  readonly pages: readonly (readonly string[])[];
  /** Returns the result of a call, or the HTTP status with which the server refuses it. */
  call?(name: string): object | number | Promise<object | number>;
}

/** A plain server of the 2025 handshake over HTTP, which knows its sessions. */
export async function startToolServer({
  pages,
  call = () => ({ content: [] }),
}: ToolServerOptions): Promise<WebSite & { readonly sessions: ReadonlySet<string> }> {
  const sessions = new Set<string>();
  let opened = 0;
  const resultOf = async ({ method, params }: Message): Promise<object | number> => {
    switch (method) {
      case 'initialize':
        return {
          protocolVersion: '2025-06-18',
          capabilities: { tools: {} },
          serverInfo: { name: 'tools', version: '1' },
        };
      case 'tools/list': {
        const page = Number(params?.cursor ?? 0);
        const tools = (pages[page] ?? []).map((name) => ({ name, inputSchema: { type: 'object' } }));
        return { tools, ...(page + 1 < pages.length ? { nextCursor: String(page + 1) } : {}) };
      }
      case 'tools/call':
        return await call(String(params?.name));
      default:
        return 400;
    }
  };
  const site = await startWebSite(async ({ method, headers, body }, response) => {
    const session = String(headers['mcp-session-id']);
    if (method === 'GET') return response.writeHead(405).end();
    if (method === 'DELETE') return response.writeHead(sessions.delete(session) ? 200 : 404).end();
    const message = JSON.parse(body) as Message;
    const isHandshake = message.method === 'initialize' || message.method === 'server/discover';
    if (!isHandshake && !sessions.has(session)) return response.writeHead(404).end();
    if (message.id === undefined) return response.writeHead(202).end();
    const result = await resultOf(message);
    if (typeof result === 'number') return response.writeHead(result).end('Not now.');
    if (message.method === 'initialize') {
      sessions.add(`session-${++opened}`);
      response.setHeader('mcp-session-id', `session-${opened}`);
    }
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
  });
  return Object.assign(site, { sessions });
}
