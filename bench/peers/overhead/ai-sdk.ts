import { generateText, isStepCount, streamText, tool } from 'ai';
import { z } from 'zod';
import { type Contender, task } from '../../overhead/contender.ts';
import { countingModel } from '../../overhead/counting-model.ts';
import { versionOf } from '../version-of.ts';

let ran = 0;
const add = tool({
  description: task.description,
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }) => (ran++, a + b),
});

export const contenders: readonly Contender[] = [
  {
    name: '`generateText`',
    of: versionOf('ai'),
    async run(steps) {
      ran = 0;
      const stopWhen = isStepCount(steps + 1);
      await generateText({ model: countingModel(steps), prompt: task.prompt, tools: { add }, stopWhen });
      return ran;
    },
  },
  {
    name: '`streamText`',
    of: versionOf('ai'),
    async run(steps) {
      ran = 0;
      const stopWhen = isStepCount(steps + 1);
      const result = streamText({ model: countingModel(steps), prompt: task.prompt, tools: { add }, stopWhen });
      for await (const _part of result.fullStream);
      return ran;
    },
  },
];
