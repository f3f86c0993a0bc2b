import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { anthropicFormat } from './anthropic-format.ts';
import { openAiFormat } from './openai-format.ts';
import type { WireFormat, WireMessage, WireReply } from './wire-reply.ts';

/** A request, and its response. */
export interface WireRequest {
  readonly body: unknown;
  readonly status: number;
  /** Why it was refused according to the format. */
  readonly problem?: string;
}

export interface ModelServer extends AsyncDisposable {
  readonly url: string;
  /** In order, including refused ones. */
  readonly requests: readonly WireRequest[];
  /** Resolves when the first request has arrived. */
  readonly asked: Promise<void>;
  /** Resolves when a client hangs up before its response has ended. */
  readonly hungUp: Promise<void>;
}

/**
 * A model provider on this machine. Like the real API it refuses invalid requests with 400, and answers the others from a script,
 * in order.
 */
export async function startModelServer(
  name: 'openai' | 'anthropic',
  script: readonly WireReply[],
): Promise<ModelServer> {
  const format = name === 'openai' ? openAiFormat : anthropicFormat(script.filter(isMessage));
  const requests: WireRequest[] = [];
  const asked = Promise.withResolvers<void>();
  const hungUp = Promise.withResolvers<void>();
  const left = [...script];

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = JSON.parse(await textOf(request)) as { stream?: boolean };
    asked.resolve();
    response.on('close', () => {
      if (!response.writableEnded) hungUp.resolve();
    });
    const problem =
      request.url === format.path ? format.problemOf(body as never, request.headers) : `no such path: ${request.url}`;
    const reply = problem === undefined ? left.shift() : undefined;
    if (reply !== undefined && isMessage(reply)) {
      requests.push({ body, status: 200 });
      send(response, format, reply, body.stream === true);
      return;
    }
    // 422, because clients do not retry it.
    const { status, headers = {} } = reply ?? { status: problem === undefined ? 422 : 400 };
    requests.push({ body, status, ...(problem === undefined ? {} : { problem }) });
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(format.toError(problem ?? `The script says ${status}.`)));
  };

  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    asked: asked.promise,
    hungUp: hungUp.promise,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function isMessage(reply: WireReply): reply is WireMessage {
  return !('status' in reply);
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  request.setEncoding('utf8');
  for await (const piece of request) text += piece;
  return text;
}

function send(response: ServerResponse, format: WireFormat, reply: WireMessage, stream: boolean): void {
  response.setHeader('content-type', stream ? 'text/event-stream' : 'application/json');
  const frames = stream ? format.toEvents(reply) : halves(JSON.stringify(format.toBody(reply)));
  if (reply.cut === undefined && reply.hold === undefined) {
    response.end(frames.join(''));
    return;
  }
  const half = frames.slice(0, Math.ceil(frames.length / 2)).join('');
  if (reply.hold) response.write(half);
  else if (reply.cut === 'error') response.end(half + format.streamError);
  else if (reply.cut === 'end') response.end(half);
  // Only after the bytes are sent: the client must get them before the connection breaks.
  else response.write(half, () => response.destroy());
}

function halves(text: string): readonly string[] {
  return [text.slice(0, text.length / 2), text.slice(text.length / 2)];
}
