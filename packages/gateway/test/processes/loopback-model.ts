import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ChatBody, type ModelRequest, readRequest } from './model-request.ts';

export interface ModelReply {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly input: object }[];
  /** Pause between the deltas of the reply. */
  readonly paceMs?: number;
  /** Awaited after the first half of the reply. */
  readonly hold?: Promise<unknown>;
  /** An error of the provider, instead of a reply. */
  readonly refusal?: { readonly status: number; readonly message: string };
}

/** A request that a tool of the tests sends while it runs. */
interface ToolReport {
  readonly gateway: string;
  readonly toolName: string;
  readonly callId: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface ModelOptions {
  decide(request: ModelRequest): ModelReply | Promise<ModelReply>;
  /** False: `requests` stays empty, so that hours of requests with long histories do not fill the memory. Default true. */
  readonly keepsRequests?: boolean;
  /** The tool continues once it resolves. */
  onTool?(report: ToolReport): void | Promise<void>;
}

/** A model provider on this machine with the chat completions API, whose replies are decided by a function of the request. */
export interface LoopbackModel extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly ModelRequest[];
  /** Histories that a provider would refuse. */
  readonly problems: readonly string[];
  /** Agents for which two requests were open at the same time. */
  readonly overlaps: readonly string[];
  /** Open requests of a gateway, including those of tools. */
  openOf(gateway: string): number;
}

export async function startLoopbackModel({
  decide,
  keepsRequests = true,
  onTool,
}: ModelOptions): Promise<LoopbackModel> {
  const requests: ModelRequest[] = [];
  const problems: string[] = [];
  const overlaps: string[] = [];
  const open = new Map<ServerResponse, { gateway: string; agent?: string }>();

  async function answerModel(gateway: string, body: ChatBody, response: ServerResponse): Promise<void> {
    const request = readRequest(gateway, body);
    if (keepsRequests) requests.push(request);
    if (request.problem !== undefined) problems.push(`${request.agent}: ${request.problem}`);
    if ([...open.values()].some(({ agent }) => agent === request.agent)) overlaps.push(request.agent);
    open.set(response, { gateway, agent: request.agent });
    // A request without tools is not of a run: it asks for a summary.
    const reply = body.tools === undefined ? { text: 'A summary.' } : await decide(request);
    await stream(response, reply);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gateway = (request.headers.authorization ?? '').replace('Bearer ', '');
    const body: unknown = JSON.parse(await textOf(request));
    open.set(response, { gateway });
    response.on('close', () => open.delete(response));
    if (request.url !== '/tool') return await answerModel(gateway, body as ChatBody, response);
    await onTool?.({ ...(body as ToolReport), gateway });
    response.end('{}');
  }

  // A gateway that closes the connection in the middle was killed. The tests do that on purpose.
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    problems,
    overlaps,
    openOf: (gateway) => [...open.values()].filter((one) => one.gateway === gateway).length,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  request.setEncoding('utf8');
  for await (const piece of request) text += piece;
  return text;
}

async function stream(response: ServerResponse, reply: ModelReply): Promise<void> {
  if (reply.refusal !== undefined) {
    const { status, message } = reply.refusal;
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message } }));
    return;
  }
  response.setHeader('content-type', 'text/event-stream');
  const chunks = toChunks(reply);
  for (const [index, chunk] of chunks.entries()) {
    if (response.destroyed) return;
    response.write(chunk);
    if (reply.paceMs !== undefined) await sleep(reply.paceMs);
    if (index === Math.floor(chunks.length / 2)) await reply.hold;
  }
  response.end();
}

const ENVELOPE = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'loopback' };
const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

function toChunks({ text = '', calls = [] }: ModelReply): string[] {
  const deltas: object[] = [
    { role: 'assistant', content: text },
    ...calls.flatMap(({ name, input }, index) => [
      { tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name, arguments: '' } }] },
      ...pieces(JSON.stringify(input)).map((written) => ({
        tool_calls: [{ index, function: { arguments: written } }],
      })),
    ]),
  ];
  const chunks = deltas.map((delta) => ({ ...ENVELOPE, choices: [{ index: 0, delta, finish_reason: null }] }));
  const finish = { index: 0, delta: {}, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' };
  const all = [...chunks, { ...ENVELOPE, choices: [finish] }, { ...ENVELOPE, choices: [], usage: USAGE }];
  return [...all.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'];
}

function pieces(text: string): string[] {
  const length = Math.max(1, Math.ceil(text.length / 3));
  return text.match(new RegExp(`.{1,${length}}`, 'gsu')) ?? [];
}
