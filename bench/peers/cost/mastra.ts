import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { Agent } from '@mastra/core/agent';
import { MockStore } from '@mastra/core/storage';
import { createTool } from '@mastra/core/tools';
import { Memory } from '@mastra/memory';
import type { CostContender } from '../../cost/contender.ts';
import { INSTRUCTIONS, TOOLS } from '../../cost/tasks.ts';
import { versionOf } from '../version-of.ts';

export const contender: CostContender = {
  name: 'Mastra, an agent with memory',
  of: versionOf('@mastra/core'),
  async open(modelUrl) {
    const provider = createOpenAICompatible({ name: 'scripted', baseURL: modelUrl });
    const tools = Object.fromEntries(
      TOOLS.map(({ name, description, inputSchema, run }) => [
        name,
        createTool({ id: name, description, inputSchema, execute: async (input) => run(input as never) }),
      ]),
    );
    const agent = new Agent({
      id: 'clerk',
      name: 'Clerk',
      instructions: INSTRUCTIONS,
      // Mastra has another version of the interface's types.
      model: provider('scripted') as never,
      tools,
      memory: new Memory({ storage: new MockStore(), options: { lastMessages: 200 } }),
    });
    return {
      async say(text) {
        const result = await agent.generate(text, { maxSteps: 20, memory: { thread: 'books', resource: 'ada' } });
        return result.text;
      },
      async close() {},
    };
  },
};
