// Objects made by the AI SDK's tool() are used unchanged. They gain settled calls, limits, approval and rollback.
import { configureTools, createSession, dispatchCall } from '@lastcall/core';
import { tool } from 'ai';
import { z } from 'zod';
import { show } from '../show.ts';

const weather = tool({
  description: 'The weather in a city.',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => ({ city, degrees: 21, sky: 'clear' }),
  toModelOutput: ({ output }) => ({ type: 'text', value: `${output.degrees} °C and ${output.sky} in ${output.city}` }),
});

const countdown = tool({
  description: 'Counts down.',
  inputSchema: z.object({ from: z.number() }),
  async *execute({ from }) {
    for (let left = from; left > 0; left--) yield `${left} …`;
    yield 'Lift-off!';
  },
});

const pay = tool({
  description: 'Pays an invoice.',
  inputSchema: z.object({ invoice: z.string(), euros: z.number() }),
  needsApproval: async ({ euros }) => euros > 100,
  execute: async ({ invoice, euros }) => `Paid ${euros} € for ${invoice}.`,
});

const deaf = tool({
  description: 'Never answers, and ignores its signal.',
  inputSchema: z.object({}),
  execute: () => new Promise<string>(() => {}),
});

const session = createSession();
// Options that the AI SDK has no field for are set here.
const tools = configureTools({ weather, countdown, pay, deaf }, { deaf: { timeoutMs: 50 } });

console.log(`Offered: ${Object.keys(tools).join(', ')}\n`);

show(await dispatchCall({ tools, session, call: { toolName: 'weather', input: '{"city":"Rome"}' } }));
show(
  await dispatchCall({
    tools,
    session,
    call: { toolName: 'countdown', input: '{"from":2}' },
    onEvent: (event) => event.type === 'tool-call.progress' && console.log(`  … ${String(event.value)}`),
  }),
);

const invoice = { toolName: 'pay', callId: 'call-1', input: { invoice: 'i-7', euros: 500 } };
show(await dispatchCall({ tools, session, call: invoice }));
show(await dispatchCall({ tools, session, call: invoice, answer: { approve: true } }));
show(await dispatchCall({ tools, session, call: { toolName: 'deaf' } }));
