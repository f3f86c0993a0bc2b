import { expect, test } from 'vitest';
import { z } from 'zod';
import { createSession, tool } from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { runTurn } from '../../src/turn/run-turn.ts';

test('smoke', async () => {
  const add = tool({
    description: 'Adds.',
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    execute: ({ a, b }) => a + b,
  });
  const done = tool({
    description: 'Done.',
    terminal: true,
    inputSchema: z.object({ text: z.string() }),
    execute: ({ text }) => `Result: ${text}`,
  });
  const model = scriptedModel([
    [
      { toolName: 'add', input: { a: 1, b: 2 } },
      { toolName: 'add', input: { a: 'x' } },
    ],
    [{ toolName: 'done', input: { text: '3' } }],
  ]);
  const result = await runTurn({ model, tools: { add, done }, prompt: 'add', session: createSession() });
  expect(result).toMatchObject({
    response: 'Result: 3',
    stop: { reason: 'end_turn', by: 'terminal', tool: 'done' },
    steps: 2,
  });
});
