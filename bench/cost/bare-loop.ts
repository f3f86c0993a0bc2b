import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, isStepCount, type ModelMessage, tool } from 'ai';
import type { CostContender } from './contender.ts';
import { INSTRUCTIONS, TOOLS } from './tasks.ts';

/** What a program without a runtime does: it keeps the messages and calls the tools. A person approves before the tool returns. */
export const bareLoop: CostContender = {
  name: 'a bare loop (`generateText`)',
  of: 'ai',
  async open(modelUrl) {
    const provider = createOpenAICompatible({ name: 'scripted', baseURL: modelUrl });
    const tools = Object.fromEntries(
      TOOLS.map(({ name, description, inputSchema, run }) => [
        name,
        tool({ description, inputSchema, execute: async (input) => run(input as Readonly<Record<string, unknown>>) }),
      ]),
    );
    const messages: ModelMessage[] = [];
    return {
      async say(text) {
        messages.push({ role: 'user', content: text });
        const result = await generateText({
          model: provider('scripted'),
          instructions: INSTRUCTIONS,
          messages,
          tools,
          stopWhen: isStepCount(20),
        });
        messages.push(...result.response.messages);
        return result.text;
      },
      async close() {},
    };
  },
};
