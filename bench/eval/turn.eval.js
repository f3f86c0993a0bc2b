// Cases that are turns in this process, for cases.bench.ts.
import { tool } from '@lastcall/core';
import { calledTools, contains, evaluate } from '@lastcall/core/eval';
import { scriptedModel } from '@lastcall/core/testing';
import { z } from 'zod';

const look = tool({
  description: 'Looks up an order.',
  inputSchema: z.object({ order: z.string() }),
  effects: 'none',
  execute: ({ order }) => `Order ${order} was sent on Monday.`,
});
const model = scriptedModel(({ prompt }) =>
  prompt.at(-1)?.role === 'tool' ? 'It was sent on Monday.' : { toolName: 'look', input: { order: 'A-17' } },
);

await evaluate({
  name: 'turns',
  cases: Array.from({ length: Number(process.env.BENCH_CASES) }, (_, at) => ({
    name: `order ${at}`,
    input: `Where is order ${at}?`,
    expected: 'Monday',
  })),
  agent: { model, tools: { look }, instructions: 'You help customers.' },
  scores: { answer: contains(), tools: calledTools(['look']) },
});
