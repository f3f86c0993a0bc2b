import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { Logger } from '@lastcall/core';
import { ApiError } from '../api-error.ts';
import { newId } from '../new-id.ts';
import type { App } from './app.ts';
import { errorAnswer } from './error-answer.ts';

export interface ListenOptions {
  /** Default 4100; 0 takes any free one. */
  readonly port?: number;
  /** Default loopback: whoever wants to be reached from outside says so. */
  readonly host?: string;
  readonly logger: Logger;
}

/** An app at an address. */
export interface HttpServer {
  readonly url: string;
  /** Takes no more requests, and resolves once those under way are answered; after `graceMs` they are cut. */
  close(options?: { graceMs?: number }): Promise<void>;
}

export async function listen(
  app: App,
  { port = 4100, host = '127.0.0.1', logger }: ListenOptions,
): Promise<HttpServer> {
  const errorHandler = (error: unknown): Response => errorAnswer(toApiError(error), { requestId: newId(), logger });
  const server = createServer(getRequestListener(app.fetch, { errorHandler, overrideGlobalObjects: false }));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(port, host, resolve);
  await promise;
  server.off('error', reject);
  return { url: urlOf(server, host), close: (options) => close(server, options) };
}

/** What the server itself cannot make a request of, e.g. a Host header that is none. */
function toApiError(error: unknown): unknown {
  return error instanceof Error && error.name === 'RequestError'
    ? new ApiError(400, 'bad_request', 'This is not a request that can be read: check its URL and Host header.')
    : error;
}

function urlOf(server: Server, host: string): string {
  const { port, family, address } = server.address() as AddressInfo;
  // Who listens everywhere is reached on loopback.
  const shown = address === '0.0.0.0' || address === '::' ? '127.0.0.1' : host;
  return `http://${family === 'IPv6' && shown.includes(':') ? `[${shown}]` : shown}:${port}`;
}

async function close(server: Server, { graceMs = 5_000 }: { graceMs?: number } = {}): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  // A connection whose request was answered after this began is idle too, and would be kept alive for seconds.
  const sweeping = setInterval(() => server.closeIdleConnections(), 20);
  const cut = setTimeout(() => server.closeAllConnections(), graceMs);
  await promise;
  clearInterval(sweeping);
  clearTimeout(cut);
}
