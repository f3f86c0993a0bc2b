import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage } from '@langchain/core/messages';
import type { ChatResult } from '@langchain/core/outputs';
import { createAgent, tool } from 'langchain';
import { z } from 'zod';
import { type Contender, task } from '../../overhead/contender.ts';
import { versionOf } from '../version-of.ts';

let ran = 0;
const add = tool(async ({ a, b }: { a: number; b: number }) => (ran++, a + b), {
  name: task.toolName,
  description: task.description,
  schema: z.object({ a: z.number(), b: z.number() }),
});

class CountingModel extends BaseChatModel {
  readonly #steps: number;
  #asked = 0;

  constructor(steps: number) {
    super({});
    this.#steps = steps;
  }

  override _llmType(): string {
    return 'bench';
  }

  override bindTools(): this {
    return this;
  }

  override async _generate(): Promise<ChatResult> {
    if (this.#asked++ >= this.#steps)
      return { generations: [{ text: task.answer, message: new AIMessage(task.answer) }] };
    const call = { name: task.toolName, args: JSON.parse(task.input), id: `call-${this.#asked}` };
    return { generations: [{ text: '', message: new AIMessage({ content: '', tool_calls: [call] }) }] };
  }
}

export const contenders: readonly Contender[] = [
  {
    name: '`createAgent`',
    of: versionOf('langchain'),
    async run(steps) {
      ran = 0;
      const agent = createAgent({ model: new CountingModel(steps), tools: [add] });
      // Two nodes of its graph a step.
      await agent.invoke({ messages: task.prompt as never }, { recursionLimit: 2 * steps + 2 });
      return ran;
    },
  },
];
