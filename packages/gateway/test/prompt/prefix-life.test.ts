import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { describeWorlds } from '../support/describe-worlds.ts';
import { isFirstStep, systemOf } from '../support/requests.ts';

const RUNS = 100;
const BUDGET = 8_000;
// About 400 tokens in each run: a message, a call with its result, and a text.
const WORDS = 'All work and no play. '.repeat(25);

const look = tool({
  description: 'Looks.',
  inputSchema: z.object({ what: z.string() }),
  effects: 'none',
  execute: () => WORDS,
});

describeWorlds('the life of a prefix', (open) => {
  test('[K8] in 100 runs, summaries change the beginning of requests a few times only', async () => {
    const model = scriptedModel((request) => {
      if (systemOf(request).startsWith('You keep the memory')) return 'Ada says: all work and no play.';
      return isFirstStep(request) ? [{ toolName: 'look', input: { what: 'work' } }] : 'I see.';
    });
    const world = await open({
      models: { default: model },
      tools: { look: { tool: look, visible: false } },
      agentLimits: { consciousnessTokens: BUDGET },
    });
    const [ada, bot] = [await world.person('Ada'), await world.agent('Bot', { tools: ['look'] })];
    const space = await world.space('Lobby', [ada, bot]);
    for (let run = 0; run < RUNS; run++) {
      await world.say(space, ada, `${run}: ${WORDS}`);
      await world.idle();
    }
    const requests = model.requests.filter((request) => !systemOf(request).startsWith('You keep the memory'));
    expect(requests).toHaveLength(2 * RUNS);
    const kept = ({ prompt }: LanguageModelV4CallOptions): string =>
      prompt
        .slice(0, -1)
        .map((message) => JSON.stringify(message))
        .join('\n');
    const changed = requests.filter((request, index) => {
      const before = requests[index - 1];
      return before !== undefined && !kept(request).startsWith(kept(before));
    });
    expect(changed.length).toBeGreaterThan(0);
    // Half of the budget at least is filled between two summaries.
    expect(changed.length).toBeLessThanOrEqual(10);
  }, 120_000);
});
