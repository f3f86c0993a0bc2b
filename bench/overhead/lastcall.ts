import { runTurn, streamTurn, tool } from '@lastcall/core';
import { z } from 'zod';
import { type Contender, task } from './contender.ts';
import { countingModel } from './counting-model.ts';

let ran = 0;
const add = tool({
  description: task.description,
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }) => (ran++, a + b),
});
const tools = { add };

export const lastcallRun: Contender = {
  name: '`runTurn`',
  of: '@lastcall/core',
  async run(steps) {
    ran = 0;
    await runTurn({ model: countingModel(steps), prompt: task.prompt, tools, maxSteps: steps + 1 });
    return ran;
  },
};

export const lastcallStream: Contender = {
  name: '`streamTurn`',
  of: '@lastcall/core',
  async run(steps) {
    ran = 0;
    const stream = streamTurn({ model: countingModel(steps), prompt: task.prompt, tools, maxSteps: steps + 1 });
    for await (const _event of stream);
    await stream.result;
    return ran;
  },
};
