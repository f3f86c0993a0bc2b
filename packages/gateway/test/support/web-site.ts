import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A request that a site got. */
export interface SeenRequest {
  readonly method: string;
  /** Path and query, as they were sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The address of this machine that was connected to. */
  readonly address: string;
}

/** An HTTP server for a test. */
export interface WebSite extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** `host:port`, to be allowed. */
  readonly host: string;
  readonly requests: readonly SeenRequest[];
  readonly sockets: ReadonlySet<Socket>;
}

/** Without `answer` the response is `{"ok":true}`. */
export async function startWebSite(
  answer: (request: SeenRequest, response: ServerResponse) => unknown = (_request, response) =>
    response.setHeader('content-type', 'application/json').end('{"ok":true}'),
  { port: wanted = 0, encoding = 'utf8' }: { readonly port?: number; readonly encoding?: BufferEncoding } = {},
): Promise<WebSite> {
  const requests: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = '';
    for await (const piece of request.setEncoding(encoding)) body += piece;
    const { method = '', url = '', headers, socket } = request;
    const seen = { method, url, headers, body, address: socket.localAddress ?? '' };
    requests.push(seen);
    await answer(seen, response);
  };
  const server = createServer((request, response) => void take(request, response).catch(() => response.destroy()));
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(wanted, '0.0.0.0');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    port,
    requests,
    sockets,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
