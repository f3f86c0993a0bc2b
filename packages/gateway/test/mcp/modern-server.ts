import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

/** A server of the 2026 specification, made with the official package. It refuses the older handshake. */
export async function startModernServer(
  build: () => McpServer = buildServer,
): Promise<{ readonly url: string; readonly host: string } & AsyncDisposable> {
  const handler = createMcpHandler(build, { legacy: 'reject' });
  const server = createServer(async (request, response) => {
    const body = request.method === 'POST' ? (Readable.toWeb(request) as ReadableStream) : null;
    const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const method = request.method ?? 'GET';
    const answer = await handler.fetch(
      new Request(`http://127.0.0.1${request.url}`, { method, headers, body, duplex: 'half' } as RequestInit),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body === null) response.end();
    else
      Readable.fromWeb(answer.body as never)
        .on('error', () => response.destroy())
        .pipe(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}/mcp`,
    host,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function buildServer(): McpServer {
  const server = new McpServer({ name: 'modern', version: '1' });
  server.registerTool(
    'add',
    {
      description: 'Adds.',
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
    },
    ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }], structuredContent: { sum: a + b } }),
  );
  return server;
}
