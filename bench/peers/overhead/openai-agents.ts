import { Agent, type Model, type ModelResponse, Runner, tool, Usage } from '@openai/agents';
import { z } from 'zod';
import { type Contender, task } from '../../overhead/contender.ts';
import { versionOf } from '../version-of.ts';

let ran = 0;
const add = tool({
  name: task.toolName,
  description: task.description,
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }) => (ran++, a + b),
});
const runner = new Runner({ tracingDisabled: true });

function countingModel(steps: number): Model {
  let asked = 0;
  return {
    getResponse: async () => replyOf(asked++ < steps ? asked : undefined),
    getStreamedResponse: () => {
      throw new Error('Not streamed here.');
    },
  };
}

function replyOf(call: number | undefined): ModelResponse {
  const output: ModelResponse['output'][number] =
    call === undefined
      ? {
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: task.answer }],
        }
      : {
          type: 'function_call',
          callId: `call-${call}`,
          name: task.toolName,
          status: 'completed',
          arguments: task.input,
        };
  return { usage: new Usage(), output: [output] };
}

export const contenders: readonly Contender[] = [
  {
    name: '`run`',
    of: versionOf('@openai/agents'),
    async run(steps) {
      ran = 0;
      const agent = new Agent({ name: 'bench', model: countingModel(steps), tools: [add] });
      await runner.run(agent, task.prompt, { maxTurns: steps + 1 });
      return ran;
    },
  },
];
