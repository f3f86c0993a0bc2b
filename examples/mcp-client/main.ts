import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { startTestGateway } from '@lastcall/gateway/testing';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { z } from 'zod';

// The model is scripted, so that the example prints the same every time.
const model = scriptedModel([
  { toolName: 'refund', input: { order: 17, cents: 1_250 } },
  'Order 17 is refunded.',
  'You asked about order 17.',
]);
const gateway = await startTestGateway({
  model,
  agents: [{ name: 'Support desk', instructions: 'You help customers.', tools: ['refund'] }],
  tools: {
    refund: tool({
      description: 'Refunds an order.',
      inputSchema: z.object({ order: z.number(), cents: z.number() }),
      approval: true,
      execute: ({ order, cents }) => `Refunded ${cents} cents of order ${order}.`,
    }),
  },
});

// From here on this is a plain MCP client. It can ask its user, so the gateway asks it for approval.
const client = new Client(
  { name: 'example', version: '1.0.0' },
  { versionNegotiation: { mode: 'auto' }, capabilities: { elicitation: { form: {} } } },
);
client.setRequestHandler('elicitation/create', async ({ params }) => {
  console.log(`question: ${params.message}`);
  return { action: 'accept', content: {} };
});
const requestInit = { headers: { Authorization: `Bearer ${gateway.secretKey}` } };
await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), { requestInit }));

const { tools } = await client.listTools();
console.log(`tools: ${tools.map(({ name }) => name).join(', ')}`);

const ask = async (given: { message: string; context_id?: string }) => {
  const { structuredContent } = await client.callTool({ name: 'ask_support_desk', arguments: given });
  return structuredContent as { response: string; context_id: string };
};
const first = await ask({ message: 'Please refund order 17.' });
console.log(`answer: ${first.response}`);
const second = await ask({ message: 'What did I ask about?', context_id: first.context_id });
console.log(`answer: ${second.response}`);

await client.close();
await gateway.stop();
