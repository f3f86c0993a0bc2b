import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CostTask, Reply } from './tasks.ts';
import { countTokens } from './token-count.ts';

/** A request to the model, in tokens. */
export interface AskedRequest {
  readonly input: number;
  /** Input tokens at the start that the previous request also had: a provider has them in its cache. */
  readonly cached: number;
  readonly output: number;
}

/** A server that speaks the wire format of chat completions and answers from a script, so that every contender gets the same replies. */
export interface ModelServer {
  readonly url: string;
  /** Requests from now on are about this task. Returns the requests received since the last call. */
  begin(task: CostTask): readonly AskedRequest[];
  /** From now on the model takes this long to answer. */
  delay(ms: number): void;
  /** Forgets the previous request: the next one starts a conversation. */
  forget(): void;
  close(): Promise<void>;
}

interface Message {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly { readonly function: { readonly name: string; readonly arguments: string } }[];
}

interface Body {
  readonly messages: readonly Message[];
  readonly tools?: readonly { readonly function: unknown }[];
  readonly stream?: boolean;
}

/** What the model says if it is asked while one of its calls waits for a person. */
const WAITING = 'I have asked for the approval.';

export async function startModelServer(): Promise<ModelServer> {
  let replies: Reply[] = [];
  let asked: AskedRequest[] = [];
  let before: readonly string[] = [];
  let delayMs = 0;
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(pieces).toString()) as Body;
      const reply = isAboutWaiting(body) ? WAITING : replies.shift();
      if (reply === undefined) {
        response.writeHead(400, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: { message: 'The script has no reply for this request.' } }));
        return;
      }
      const parts = partsOf(body);
      asked.push({ input: sum(parts), cached: cachedIn(parts, before), output: countTokens(textOf(reply)) });
      before = parts;
      setTimeout(() => answer(response, reply, body.stream === true), delayMs);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    begin(task) {
      if (replies.length > 0) throw new Error(`${replies.length} replies of the last task were not asked for.`);
      replies = [...task.replies];
      asked = [];
      return asked;
    },
    delay(ms) {
      delayMs = ms;
    },
    forget() {
      before = [];
    },
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** True if the last tool result in the request says that its call is pending. */
function isAboutWaiting({ messages }: Body): boolean {
  const last = messages.findLastIndex(({ role }) => role === 'tool');
  const isLast = messages.slice(last + 1).every(({ content }) => textIn(content).startsWith('<situation'));
  return last !== -1 && isLast && /pending/.test(textIn(messages[last]?.content));
}

/** What a provider reads, in the order in which it caches: tools, then messages. Ids of calls are left out: providers do not show them. */
function partsOf({ tools = [], messages }: Body): readonly string[] {
  return [
    ...tools.map((one) => JSON.stringify(one.function)),
    ...messages.map(({ role, content, tool_calls: calls = [] }) =>
      [role, textIn(content), ...calls.map(({ function: called }) => `${called.name}(${called.arguments})`)].join('\n'),
    ),
  ];
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: { readonly text?: string }) => part.text ?? JSON.stringify(part)).join('\n');
}

function sum(parts: readonly string[]): number {
  return parts.reduce((total, part) => total + countTokens(part), 0);
}

function cachedIn(parts: readonly string[], before: readonly string[]): number {
  const differs = parts.findIndex((part, index) => part !== before[index]);
  if (differs === -1) return sum(parts);
  const [now = '', old = ''] = [parts[differs], before[differs]];
  let same = 0;
  while (same < Math.min(now.length, old.length) && now[same] === old[same]) same++;
  return sum(parts.slice(0, differs)) + countTokens(now.slice(0, same));
}

function textOf(reply: Reply): string {
  return typeof reply === 'string' ? reply : `${reply.tool}(${JSON.stringify(reply.input)})`;
}

let calls = 0;
let replied = 0;

function answer(response: ServerResponse, reply: Reply, isStream: boolean): void {
  const base = { id: `reply_${++replied}`, created: 0, model: 'scripted' };
  const call = typeof reply === 'string' ? undefined : { name: reply.tool, arguments: JSON.stringify(reply.input) };
  const toolCalls = call && [{ index: 0, id: `call_${++calls}`, type: 'function', function: call }];
  const message = toolCalls === undefined ? { content: reply } : { content: null, tool_calls: toolCalls };
  const finish_reason = call === undefined ? 'stop' : 'tool_calls';
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  if (!isStream) {
    response.writeHead(200, { 'content-type': 'application/json' });
    const choice = { index: 0, message: { role: 'assistant', ...message }, finish_reason };
    response.end(JSON.stringify({ ...base, object: 'chat.completion', choices: [choice], usage }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (chunk: object): void => {
    response.write(`data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', ...chunk })}\n\n`);
  };
  send({ choices: [{ index: 0, delta: { role: 'assistant', ...message }, finish_reason: null }] });
  send({ choices: [{ index: 0, delta: {}, finish_reason }], usage });
  response.end('data: [DONE]\n\n');
}
