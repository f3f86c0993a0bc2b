import { isStepCount, streamText, tool } from 'ai';
import { z } from 'zod';
import type { Stepper } from '../../gateway/durable-step.bench.ts';
import { task } from '../../overhead/contender.ts';
import { countingModel } from '../../overhead/counting-model.ts';
import { versionOf } from '../version-of.ts';

let ranAt: number[] = [];
const add = tool({
  description: task.description,
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }) => (ranAt.push(performance.now()), a + b),
});

/** Stores nothing, so it is the lower bound of the cost. */
export function steppers(): readonly Stepper[] {
  return [
    {
      name: '`streamText`, in memory',
      of: versionOf('ai'),
      async run(steps) {
        ranAt = [];
        const stopWhen = isStepCount(steps + 1);
        const result = streamText({ model: countingModel(steps), prompt: task.prompt, tools: { add }, stopWhen });
        for await (const _part of result.fullStream);
        return ranAt;
      },
      close: async () => {},
    },
  ];
}
