import { expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { ok, runTurn, streamTurn, type TurnResult, tool } from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';

const inputSchema = z.object({});
const count = tool({ description: 'd', inputSchema, execute: () => 5 });
const report = tool({ description: 'd', terminal: true, inputSchema, execute: async () => ok({ pages: 3 }) });

test('[R8] the output of a turn is inferred from its terminal tools', async () => {
  const model = scriptedModel(() => [{ toolName: 'report' }]);
  const result = await runTurn({ model, prompt: 'go', tools: { count, report } });
  expectTypeOf(result.output).toEqualTypeOf<{ pages: number } | undefined>();
  expectTypeOf(result).toExtend<TurnResult>();
  const streamed = streamTurn({ model, prompt: 'go', tools: { report } });
  expectTypeOf((await streamed.result).output).toEqualTypeOf<{ pages: number } | undefined>();
  const text = scriptedModel(['Hello.']);
  expectTypeOf((await runTurn({ model: text, prompt: 'go', tools: { count } })).output).toEqualTypeOf<unknown>();
});
