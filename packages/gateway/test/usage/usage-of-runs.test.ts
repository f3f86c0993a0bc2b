// What the runs of one turn report, each of its own.
import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { chatApi } from '../chat/chat-api.ts';
import type { Api } from '../http/api.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { databases } from '../support/stores.ts';
import type { World } from '../support/world.ts';
import { untilQuiet, usageOf } from './usage-of.ts';

const usage = usageOf(100, 10);
const pay = tool({ description: 'Pays.', inputSchema: z.object({}), approval: true, execute: () => 'Paid.' });
const look = tool({ description: 'Looks.', inputSchema: z.object({}), execute: () => 'Seen.' });
const calling = (toolName: string) => ({ calls: [{ toolName, input: {} }], usage });

/** Its worker loses the thread as if it had died. */
const killWorkers = (world: World): Promise<unknown> =>
  world.in(({ db }) =>
    db
      .updateTable('threads')
      .set((eb) => ({ epoch: eb('epoch', '+', 1), lease_owner: null, lease_until: 0 }))
      .where('lease_owner', 'is not', null)
      .execute(),
  );

describeWorlds(
  'the usage of a run that continues after an answer',
  (open) => {
    /** Asks in a conversation, and approves each payment. Returns the tokens of the runs of the turn. */
    async function tokensOf(world: World, api: Api): Promise<readonly number[]> {
      const agentId = await world.agent('Payer', { tools: ['pay', 'look'] });
      await api.done('POST', '/chat', { agent: agentId, message: 'Pay.' });
      const waiting = `/api/pending?agentId=${agentId}`;
      const next = async (): Promise<{ runId: string; callId: string } | undefined> => {
        await untilQuiet(world);
        return (await api.done<{ items: { runId: string; callId: string }[] }>('GET', waiting)).items[0];
      };
      for (let call = await next(); call !== undefined; call = await next())
        await api.done('POST', `/api/runs/${call.runId}/tool-results`, { callId: call.callId, approve: true });
      const { items } = await api.done<{ items: { usage: { totalTokens: number } }[] }>(
        'GET',
        `/api/runs?agentId=${agentId}`,
      );
      return items.map((run) => run.usage.totalTokens).reverse();
    }

    test('[K11] is that of its own requests, and not of the runs of the turn before it', async () => {
      const model = scriptedModel((_request, invocation) =>
        invocation <= 3 ? calling('pay') : { text: 'Done.', usage },
      );
      const world = await open({ models: { default: model }, tools: { pay, look } });
      expect(await tokensOf(world, await chatApi(world))).toEqual([110, 110, 110, 110]);
    });

    test('[K11] is the same if another worker takes it over', async () => {
      const replies = [calling('pay'), calling('pay'), calling('look')];
      const model = scriptedModel(async (_request, invocation) => {
        // The third request is stored; the fourth is asked again by the next worker.
        if (invocation === 4) await killWorkers(world);
        return replies[invocation - 1] ?? { text: 'Done.', usage };
      });
      const world: World = await open({ models: { default: model }, tools: { pay, look } });
      expect(await tokensOf(world, await chatApi(world))).toEqual([110, 110, 220]);
      expect(model.requests.length).toBeGreaterThan(4);
    });
  },
  databases,
);
