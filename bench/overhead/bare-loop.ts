import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { z } from 'zod';
import { type Contender, task } from './contender.ts';
import { countingModel } from './counting-model.ts';

const schema = z.object({ a: z.number(), b: z.number() });
const tools = [{ type: 'function' as const, name: task.toolName, inputSchema: z.toJSONSchema(schema) as object }];

/** The loop as one writes it by hand: it validates and runs, and guarantees nothing else. */
export const bareLoop: Contender = {
  name: 'a bare loop',
  of: '–',
  async run(steps) {
    const model = countingModel(steps);
    let ran = 0;
    const add = async ({ a, b }: z.infer<typeof schema>): Promise<number> => (ran++, a + b);
    const messages: LanguageModelV4Message[] = [{ role: 'user', content: [{ type: 'text', text: task.prompt }] }];
    for (;;) {
      const { content } = await model.doGenerate({ prompt: messages.slice(), tools });
      const calls = content.filter((part) => part.type === 'tool-call');
      if (calls.length === 0) return ran;
      for (const call of calls) {
        const { toolCallId, toolName } = call;
        const input = schema.parse(JSON.parse(call.input));
        const output = { type: 'text' as const, value: String(await add(input)) };
        messages.push({ role: 'assistant', content: [{ type: 'tool-call', toolCallId, toolName, input }] });
        messages.push({ role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] });
      }
    }
  },
};
