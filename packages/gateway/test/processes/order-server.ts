import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/**
 * An MCP server over stdio, of the 2025 handshake. Its argument is the file in which it records each call. The first call of each tool is never answered, so that its gateway can be killed.
 */
const [log = ''] = process.argv.slice(2);

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly name?: string };
}

const inputSchema = { type: 'object', properties: { ref: { type: 'string' } }, required: ['ref'] };
export const ORDER_TOOLS = [
  { name: 'order', description: 'Orders.', inputSchema },
  { name: 'order_once', description: 'Orders, at most once.', inputSchema, annotations: { idempotentHint: true } },
  { name: 'look', description: 'Looks.', inputSchema, annotations: { readOnlyHint: true } },
  { name: 'ask', description: 'Asks which size.', inputSchema },
];

export function orderResult(method: string | undefined): object | undefined {
  if (method === 'initialize')
    return { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'orders', version: '1' } };
  if (method === 'tools/list') return { tools: ORDER_TOOLS };
  return method === 'tools/call' ? { content: [{ type: 'text', text: 'done' }] } : undefined;
}

function handle({ id, method, params }: Message): void {
  if (method === undefined || id === undefined) return;
  const send = (message: object): unknown =>
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  if (method === 'tools/call') {
    appendFileSync(log, `${params?.name}\n`);
    const isFirst =
      readFileSync(log, 'utf8')
        .split('\n')
        .filter((name) => name === params?.name).length === 1;
    const requestedSchema = { type: 'object', properties: { size: { type: 'integer' } } };
    if (params?.name === 'ask')
      return void send({
        id: 1_000,
        method: 'elicitation/create',
        params: { message: 'Which size?', requestedSchema },
      });
    if (isFirst) return;
  }
  const result = orderResult(method);
  send(result === undefined ? { id, error: { code: -32_601, message: 'unknown method' } } : { id, result });
}

if (log !== '' && process.argv[1] === import.meta.filename)
  for await (const line of createInterface({ input: process.stdin })) handle(JSON.parse(line) as Message);
