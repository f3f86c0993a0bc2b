import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { addRunUsage } from '../../src/domain/runs/nested-usage.ts';
import { openApi } from '../http/api.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';

const fine = tool({ description: 'Works.', inputSchema: z.object({}), execute: () => 'fine' });
const database = { open: () => Promise.reject(new Error('The store is open already.')) } as never;

interface Priced {
  readonly kind?: string;
  readonly cost?: number;
}

describeWorlds('the cost of runs', (open) => {
  test('runs and replies have a cost only if the price of the model is configured', async () => {
    const usage = {
      inputTokens: { total: 1_000, noCache: 1_000, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: 200, text: 200, reasoning: undefined },
    };
    const model = scriptedModel([
      { calls: [{ toolName: 'fine', input: {} }], usage },
      { text: 'Done.', usage },
    ]);
    const world = await open({ models: { default: model }, tools: { fine } });
    const { ada, bot, space } = await lobby(world, { tools: ['fine'] });
    await world.say(space, ada, 'Go.');
    await world.idle();
    const row = world.store.db.selectFrom('runs').select('id').where('thread_id', '=', bot);
    const { id } = await row.executeTakeFirstOrThrow();
    const costsWith = async (prices: Readonly<Record<string, { input: number; output: number }>> | undefined) => {
      const api = await openApi(database, {
        services: { ...world.services, ...(prices === undefined ? {} : { prices }) },
      });
      const run = await api.done<Priced>('GET', `/api/runs/${id}`);
      const { items } = await api.done<{ items: Priced[] }>('GET', `/api/runs/${id}/transcript`);
      api.app.stop();
      return [run.cost, ...items.filter(({ kind }) => kind === 'reply').map(({ cost }) => cost)];
    };
    expect(await costsWith(undefined)).toEqual([undefined, undefined, undefined]);
    expect(await costsWith({ 'house/other': { input: 3, output: 15 } })).toEqual([undefined, undefined, undefined]);
    // 1,000 × 3 + 200 × 15 per million.
    expect(await costsWith({ scripted: { input: 3, output: 15 } })).toEqual([0.012, 0.006, 0.006]);
    expect(await costsWith({ 'house/scripted': { input: 3, output: 15 } })).toEqual([0.012, 0.006, 0.006]);
    // The cost of sub-agents is unknown, and a part must not be shown as the whole.
    await world.in((tx) => addRunUsage(tx, id, { inputTokens: 1, outputTokens: 1, totalTokens: 2 }));
    expect(await costsWith({ scripted: { input: 3, output: 15 } })).toEqual([undefined, 0.006, 0.006]);
  });
});
