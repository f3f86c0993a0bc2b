import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { type Contender, task } from '../../overhead/contender.ts';
import { countingModel } from '../../overhead/counting-model.ts';
import { versionOf } from '../version-of.ts';

let ran = 0;
const add = createTool({
  id: task.toolName,
  description: task.description,
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }) => (ran++, a + b),
});

export const contenders: readonly Contender[] = [
  {
    name: '`agent.generate`',
    of: versionOf('@mastra/core'),
    async run(steps) {
      ran = 0;
      const agent = new Agent({
        id: 'bench',
        name: 'bench',
        instructions: '',
        // Mastra has another version of the interface's types.
        model: countingModel(steps) as never,
        tools: { add },
      });
      await agent.generate(task.prompt, { maxSteps: steps + 1 });
      return ran;
    },
  },
];
