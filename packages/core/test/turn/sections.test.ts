import { expect, test } from 'vitest';
import { z } from 'zod';
import { prompt, section } from '../../src/doors/prompt.ts';
import { createSession, runTurn, tool } from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';

const refund = tool({ description: 'Refunds.', inputSchema: z.object({}), execute: () => 'Refunded.' });
const desk = prompt({
  ns: 'support',
  key: 'desk',
  sections: [
    section({ key: 'role', title: 'Role', template: 'You help.' }),
    section({
      key: 'refunds',
      title: 'Refunds',
      visibility: 'summary',
      summary: 'Refunds.',
      template: 'All of it.',
      tools: { refund },
    }),
  ],
});
const namesIn = (model: ReturnType<typeof scriptedModel>): (readonly string[])[] =>
  model.requests.map(({ tools = [] }) => tools.map(({ name }) => name));

test('[T44] a section that the model opens stays open for the rest of the run, and is closed in the next run', async () => {
  const session = createSession();
  const script = [[{ toolName: 'open_sections', input: { keys: ['refunds'] } }], [{ toolName: 'refund' }], 'Done.'];
  const first = scriptedModel(script);
  const result = await runTurn({ model: first, instructions: desk, session, prompt: 'refund me' });
  expect(result.settlements.map(({ outcome }) => outcome.status)).toEqual(['ok', 'ok']);
  const closed = ['open_sections', 'read_section'];
  expect(namesIn(first)).toEqual([closed, ['refund'], ['refund']]);
  const second = scriptedModel(['Hello.']);
  await runTurn({ model: second, instructions: desk, session, prompt: 'hello' });
  expect(namesIn(second)).toEqual([closed]);
});

test('[T44] a nested turn is part of the run of its parent: open sections stay open', async () => {
  const inner = scriptedModel(['Inner.']);
  const nest = tool({
    description: 'Nests.',
    inputSchema: z.object({}),
    execute: async (_input, ctx) => (await ctx.runTurn({ model: inner, instructions: desk, prompt: 'inner' })).response,
  });
  const model = scriptedModel([
    [{ toolName: 'open_sections', input: { keys: ['refunds'] } }],
    [{ toolName: 'nest' }],
    'Done.',
  ]);
  await runTurn({ model, instructions: desk, tools: { nest }, prompt: 'go' });
  expect(namesIn(inner)).toEqual([['refund']]);
  expect(namesIn(model).at(-1)).toEqual(['refund', 'nest']);
});
