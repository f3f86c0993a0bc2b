import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { startTestGateway } from '@lastcall/gateway/testing';
import OpenAI from 'openai';
import { z } from 'zod';

// The model is scripted, so that the example prints the same every time.
const gateway = await startTestGateway({
  model: scriptedModel([
    { toolName: 'list_invoices', input: { status: 'overdue' } },
    'Two invoices are overdue: 17 and 23.',
    'Invoice 17 is the older one.',
  ]),
  agents: [{ name: 'Clerk', instructions: 'You keep the books.', tools: ['list_invoices'] }],
  tools: {
    list_invoices: tool({
      description: 'Lists the numbers of invoices.',
      inputSchema: z.object({ status: z.string() }),
      effects: 'none',
      execute: () => [17, 23],
    }),
  },
});

// From here on this could be any program that uses the package `openai`: only the address and the key are the gateway's.
const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.secretKey });
for await (const model of client.models.list()) console.log(`model: ${model.id}`);
const first = await client.responses.create({ model: 'Clerk', input: 'Which invoices are overdue?' });
console.log(first.output_text);
const stream = client.responses.stream({
  model: 'Clerk',
  input: 'Which is older?',
  previous_response_id: first.id,
});
for await (const event of stream) if (event.type === 'response.output_text.delta') process.stdout.write(event.delta);
console.log();
await gateway.stop();
