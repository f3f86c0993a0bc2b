import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { startTestGateway } from '@lastcall/gateway/testing';
import { z } from 'zod';

// The model is scripted, so that the example prints the same every time. It forgets to call a tool once, and is reminded.
const model = scriptedModel([
  { toolName: 'list_invoices', input: { status: 'overdue' } },
  'Two invoices are overdue.',
  { toolName: 'complete_task', input: { result: 'Two invoices are overdue: 17 and 23.' } },
]);
const gateway = await startTestGateway({
  model,
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

// Your own tasks need only the script.
const env = { ...process.env, GATEWAY: gateway.url, KEY: gateway.secretKey };
const runTask = () => promisify(execFile)('sh', [join(import.meta.dirname, 'task.sh')], { env });
const answer = JSON.parse((await runTask()).stdout);
console.log(answer.response);
for (const message of answer.generated_messages) {
  const { tool_call_id: _, ...shown } = message;
  console.log(JSON.stringify(shown));
}
const again = JSON.parse((await runTask()).stdout);
console.log(
  `sent again: ${again.run_id === answer.run_id ? 'the same run' : 'another run'}, ${model.requests.length} model requests`,
);
await gateway.stop();
