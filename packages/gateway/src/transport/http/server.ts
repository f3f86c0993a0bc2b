import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener, type Http2Bindings, type HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Logger } from '@lastcall/core';
import { ApiError } from '../../domain/api-error.ts';
import { newId } from '../../domain/new-id.ts';
import type { App } from './app.ts';
import { Connections } from './connections.ts';
import { errorAnswer } from './error-answer.ts';
import { writeText } from './json-answer.ts';
import { toListenError } from './listen-refused.ts';

export interface ListenOptions {
  /** Default 4100. 0 means any free port. */
  readonly port?: number;
  /** Default loopback: listening to the outside must be a decision. */
  readonly host?: string;
  readonly logger: Logger;
}

/** An app that listens on an address. */
export interface HttpServer {
  readonly url: string;
  /**
   * Accepts no more requests, closes idle connections, and resolves once the requests in progress are answered. After `graceMs`
   * they are cut.
   */
  close(options?: { graceMs?: number }): Promise<void>;
}

export async function listen(
  app: App,
  { port = 4100, host = '127.0.0.1', logger }: ListenOptions,
): Promise<HttpServer> {
  const errorHandler = (error: unknown): Response => errorAnswer(toApiError(error), { requestId: newId(), logger });
  const answer = async (request: Request, env: HttpBindings | Http2Bindings): Promise<Response> => {
    const answered = await app.fetch(request, env);
    return writeText(answered, env.outgoing as ServerResponse) ? RESPONSE_ALREADY_SENT : answered;
  };
  const server = createServer(getRequestListener(answer, { errorHandler, overrideGlobalObjects: false }));
  const connections = new Connections(server);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const refuse = (error: Error): void => reject(toListenError(error, { port, host }));
  server.once('error', refuse).listen(port, host, resolve);
  await promise;
  server.off('error', refuse);
  return { url: urlOf(server, host), close: (options) => close(server, connections, options) };
}

/** Converts the error of a request that the server could not parse, e.g. with an invalid Host header. */
function toApiError(error: unknown): unknown {
  return error instanceof Error && error.name === 'RequestError'
    ? new ApiError('bad_request', 'The request cannot be parsed. Check its URL and Host header.')
    : error;
}

function urlOf(server: Server, host: string): string {
  const { port, family, address } = server.address() as AddressInfo;
  // A server that listens on all addresses is reached on loopback.
  const shown = address === '0.0.0.0' || address === '::' ? '127.0.0.1' : host;
  return `http://${family === 'IPv6' && shown.includes(':') ? `[${shown}]` : shown}:${port}`;
}

/** A stream that was ended needs no longer than this to close, unless its client does not read. */
const STREAM_END_MS = 1_000;

async function close(
  server: Server,
  connections: Connections,
  { graceMs = 5_000 }: { graceMs?: number } = {},
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  connections.closeIdle();
  const cutStreams = setTimeout(() => connections.cutEventStreams(), Math.min(STREAM_END_MS, graceMs));
  const cutAll = setTimeout(() => server.closeAllConnections(), graceMs);
  await promise;
  clearTimeout(cutStreams);
  clearTimeout(cutAll);
}
