import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/**
 * An MCP server over stdio. Its second argument is its number of tools. With a third, each list has other names, and the server
 * announces changes all the time. Its first argument is the file in which it records each list.
 */
const [log = '', count = '1', changing] = process.argv.slice(2);
let lists = 0;

const inputSchema = {
  type: 'object',
  properties: Object.fromEntries(
    ['id', 'title', 'text', 'labels', 'owner', 'due', 'state', 'place'].map((name) => [
      name,
      name === 'labels'
        ? { type: 'array', items: { type: 'object', properties: { label: { type: 'string' } }, required: ['label'] } }
        : { type: 'string', description: `The ${name} of the record.`, maxLength: 1_000 },
    ]),
  ),
  required: ['id'],
};
const outputSchema = { type: 'object', properties: { done: { type: 'boolean' } } };

function tools(): readonly object[] {
  const prefix = changing === undefined ? 'tool' : `tool-of-list-${lists}`;
  const description = 'Changes a record, and says what it is like afterwards. '.repeat(3);
  const names = Array.from({ length: Number(count) }, (_, index) => `${prefix}-${index}`);
  return names.map((name) => ({ name, description, inputSchema, outputSchema }));
}

function resultOf(method: string): object | undefined {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: '2025-06-18',
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: 'list', version: '1' },
      };
    case 'tools/list':
      lists += 1;
      appendFileSync(log, 'list\n');
      return { tools: tools() };
    case 'tools/call':
      return { content: [{ type: 'text', text: 'done' }], structuredContent: { done: true } };
    default:
      return undefined;
  }
}

const send = (message: object): unknown => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

if (changing !== undefined)
  setInterval(() => {
    if (lists === 0) return;
    send({ method: 'notifications/tools/list_changed' });
    appendFileSync(log, 'changed\n');
  }, 10);

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line) as { id?: number; method: string };
  const result = resultOf(method);
  if (id !== undefined)
    send({ id, ...(result === undefined ? { error: { code: -32_601, message: 'no' } } : { result }) });
}
process.exit();
