import { MemorySaver } from '@langchain/langgraph';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, tool } from 'langchain';
import type { CostContender } from '../../cost/contender.ts';
import { INSTRUCTIONS, TOOLS } from '../../cost/tasks.ts';
import { versionOf } from '../version-of.ts';

export const contender: CostContender = {
  name: 'LangGraph, an agent with a checkpointer',
  of: versionOf('@langchain/langgraph'),
  async open(modelUrl) {
    const model = new ChatOpenAI({ model: 'scripted', apiKey: 'none', configuration: { baseURL: modelUrl } });
    const tools = TOOLS.map(({ name, description, inputSchema, run }) =>
      tool(async (input) => run(input as never), { name, description, schema: inputSchema as never }),
    );
    const agent = createAgent({
      model,
      tools,
      systemPrompt: INSTRUCTIONS,
      checkpointer: new MemorySaver(),
    });
    return {
      async say(text) {
        const thread = { configurable: { thread_id: 'books' }, recursionLimit: 60 };
        const { messages } = await agent.invoke({ messages: [{ role: 'user', content: text }] as never }, thread);
        return messages.at(-1)?.text ?? '';
      },
      async close() {},
    };
  },
};
