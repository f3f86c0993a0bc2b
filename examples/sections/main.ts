// A prompt made of sections: one is a summary until the model opens it, and has its tools only then.
import { createSession, dispatchCall, requires, tool } from '@lastcall/core';
import { prompt, section } from '@lastcall/core/prompt';
import { z } from 'zod';
import { show } from '../show.ts';

const search = tool({
  description: 'Searches the handbook.',
  inputSchema: z.object({ query: z.string().describe('A few words') }),
  effects: 'none',
  execute: ({ query }) => `Nothing about "${query}" yet.`,
  examples: [{ description: 'Look up a rule', input: { query: 'refund limit' }, output: 'Refunds up to 50 €.' }],
});
const verify = tool({
  description: 'Checks who the customer is.',
  inputSchema: z.object({ customer: z.string() }),
  effects: 'none',
  execute: ({ customer }) => `${customer} is who they say.`,
});
const refund = tool({
  description: 'Refunds an order.',
  inputSchema: z.object({ order: z.string(), euros: z.number().positive() }),
  execute: ({ order, euros }) => `Refunded ${euros} € of ${order}.`,
});

const desk = prompt({
  ns: 'support',
  key: 'desk',
  sections: [
    section({
      key: 'role',
      title: 'Role',
      template: 'You help customers of {{shop}}.',
      params: { shop: 'the shop' },
      tools: { search, verify },
    }),
    section({
      key: 'refunds',
      title: 'Refunds',
      visibility: 'summary',
      summary: 'How to refund an order.',
      template: 'Never refund more than 50 €. Verify the customer first.',
      tools: { refund },
      policies: [requires({ refund: ['verify'] })],
    }),
  ],
});

const session = createSession();
const params = { shop: 'The Corner Shop' };

function printPrompt(): void {
  const { system, tools } = desk.render({ session, params });
  console.log(`${system}\n`);
  console.log(`tools: ${Object.keys(tools).join(', ')}\n`);
}

async function call(toolName: string, input: object): Promise<void> {
  show(await dispatchCall({ instructions: desk, params, session, call: { toolName, input } }));
}

console.log('1. What the model is shown first.\n');
printPrompt();
console.log('2. A tool of a section that is not open is not there.\n');
await call('refund', { order: 'o-1', euros: 20 });
console.log('3. The model opens the section.\n');
await call('open_sections', { keys: ['refunds'] });
printPrompt();
console.log('4. The section brought a policy: no refund before the customer is verified.\n');
await call('refund', { order: 'o-1', euros: 20 });
await call('verify', { customer: 'Ann' });
await call('refund', { order: 'o-1', euros: 20 });
