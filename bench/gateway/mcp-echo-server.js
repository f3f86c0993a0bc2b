import { createInterface } from 'node:readline';

/** The smallest MCP server: what is measured is the client's side. */
const days = Array.from({ length: 7 }, (_, day) => ({ day, degrees: 20 - day }));
const inputSchema = { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } } };
const RESULTS = {
  initialize: {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'weather', version: '1' },
  },
  'tools/list': { tools: [{ name: 'weather', description: 'Weather.', inputSchema }] },
  'tools/call': { content: [{ type: 'text', text: JSON.stringify({ city: 'Oslo', days }) }] },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  const result = RESULTS[method];
  const answer = result === undefined ? { error: { code: -32601, message: 'unknown method' } } : { result };
  if (id !== undefined) process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
}
