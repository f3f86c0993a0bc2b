import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { waitFor } from '../../src/testing/wait-for.ts';
import type { Api } from '../http/api.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { databases } from '../support/stores.ts';
import { call, chatApi } from './chat-api.ts';

interface Member {
  readonly id: string;
  readonly token: string;
}

async function member(api: Api, agent: string): Promise<Member> {
  const id = await api.person();
  await api.space(id, agent);
  return { id, token: await api.tokenOf(id) };
}

describeWorlds(
  "an entity's own contexts",
  (open) => {
    test('[G33] the calls that wait in them are in its list of waiting calls, and in no other entity’s', async () => {
      const pay = tool({ description: 'Pays.', inputSchema: z.object({}), approval: true, execute: () => 'Paid.' });
      const world = await open({ models: { default: scriptedModel(() => call('pay')) }, tools: { pay } });
      const api = await chatApi(world);
      const agent = await api.agent('Payer', { tools: ['pay'] });
      const [ada, ben] = [await member(api, agent), await member(api, agent)];
      const { body } = await api.call('POST', '/chat', { secret: ada.token, body: { agent, message: 'Pay' } });
      const [pending] = body.pending_calls;
      const listed = async (secret: string) =>
        (await api.call('GET', `/api/pending?agentId=${agent}`, { secret })).body.items.map(
          ({ callId }: { callId: string }) => callId,
        );
      expect(await listed(ada.token)).toEqual([pending.tool_call_id]);
      expect(await listed(ben.token)).toEqual([]);
      expect(await listed(api.key)).toEqual([pending.tool_call_id]);
    });

    test('[G16] it cancels runs in them with its token, and no others', async () => {
      const wait = tool({
        description: 'Waits.',
        inputSchema: z.object({}),
        execute: (_input, { abortSignal }) =>
          new Promise((_resolve, reject) => abortSignal.addEventListener('abort', () => reject(abortSignal.reason))),
      });
      const world = await open({ models: { default: scriptedModel(() => call('wait')) }, tools: { wait } });
      const api = await chatApi(world);
      const agent = await api.agent('Waiter', { tools: ['wait'] });
      const [ada, ben] = [await member(api, agent), await member(api, agent)];
      const waiting = api.call('POST', '/chat', { secret: ada.token, body: { agent, message: 'Wait' } });
      const runs = async () => (await api.done<{ items: { id: string }[] }>('GET', `/api/runs?agentId=${agent}`)).items;
      await waitFor(async () => (await runs()).length === 1);
      const path = `/api/runs/${(await runs())[0]?.id}/cancel`;
      expect((await api.call('POST', path, { secret: ben.token })).status).toBe(404);
      expect((await api.call('POST', path, { secret: ada.token })).status).toBe(200);
      expect((await waiting).body.error.code).toBe('run_cancelled');
      expect((await api.call('POST', path, { secret: ada.token })).status).toBe(409);
      const ofAgent = await api.run(agent);
      expect((await api.call('POST', `/api/runs/${ofAgent}/cancel`, { secret: ada.token })).status).toBe(404);
    });
  },
  databases,
);
