import { Agent, MemorySession, OpenAIProvider, Runner, tool } from '@openai/agents';
import type { CostContender } from '../../cost/contender.ts';
import { INSTRUCTIONS, TOOLS } from '../../cost/tasks.ts';
import { versionOf } from '../version-of.ts';

export const contender: CostContender = {
  name: 'OpenAI Agents, with a session',
  of: versionOf('@openai/agents'),
  async open(modelUrl) {
    const modelProvider = new OpenAIProvider({ apiKey: 'none', baseURL: modelUrl, useResponses: false });
    const runner = new Runner({ tracingDisabled: true, modelProvider });
    const tools = TOOLS.map(({ name, description, inputSchema, run }) =>
      tool({ name, description, parameters: inputSchema, execute: async (input) => run(input as never) }),
    );
    const agent = new Agent({ name: 'Clerk', instructions: INSTRUCTIONS, model: 'scripted', tools });
    const session = new MemorySession();
    return {
      async say(text) {
        const result = await runner.run(agent, text, { session, maxTurns: 20 });
        return String(result.finalOutput);
      },
      async close() {},
    };
  },
};
