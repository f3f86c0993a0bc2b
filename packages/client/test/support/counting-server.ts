import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request as it came. */
interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came.
  readonly body: any;
}

/** The response to a request, or 'cut': the connection is cut before one. */
export type Treatment =
  | 'cut'
  | {
      readonly status: number;
      readonly body?: unknown;
      readonly text?: string;
      readonly headers?: Record<string, string>;
    };

/** A server that records its requests and answers them as `treat` says, in order. The last treatment repeats. */
export interface CountingServer extends AsyncDisposable {
  readonly url: string;
  readonly seen: readonly Seen[];
  treat(...treatments: Treatment[]): void;
}

export async function startCountingServer(): Promise<CountingServer> {
  let treatments: Treatment[] = [];
  let seen: Seen[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const { method = '', url: path = '', headers } = request;
      seen.push({ method, path, headers, body: text === '' ? undefined : JSON.parse(text) });
      answer(response, (treatments.length > 1 ? treatments.shift() : treatments[0]) ?? 'cut');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get seen() {
      return seen;
    },
    treat(...given) {
      treatments = given;
      seen = [];
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Each answer of a gateway has one. Commands recognise a gateway by it. */
const REQUEST_ID = '01997d7c-0000-7000-8000-000000000000';

function answer(response: ServerResponse, treatment: Treatment): void {
  if (treatment === 'cut') {
    response.destroy();
    return;
  }
  const { status, body, text = JSON.stringify(body ?? {}), headers = {} } = treatment;
  response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': REQUEST_ID, ...headers }).end(text);
}
