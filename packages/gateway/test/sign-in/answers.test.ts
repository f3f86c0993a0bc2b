import { pending, tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { openApi } from '../http/api.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { Browser } from './browser.ts';

const ask = tool({
  description: 'Asks somebody.',
  inputSchema: z.object({}),
  execute: () => pending({ expiresInMs: 60_000 }),
});

describeWorlds('answers of a session', (open) => {
  const database = { open: () => Promise.reject(new Error('The store is open already.')) } as never;

  const waitingCall = async () => {
    const model = scriptedModel([{ toolName: 'ask', input: {} }, 'Waiting.', 'Thank you.']);
    const world = await open({ models: { default: model }, tools: { ask } });
    const { ada, space } = await lobby(world, { tools: ['ask'] }, { isIn: true });
    const api = await openApi(database, { services: world.services });
    await world.say(space, ada, 'Ask.');
    await world.idle();
    const { items } = await api.done<{ items: { callId: string; runId: string }[] }>('GET', '/api/pending');
    const call = items.at(-1);
    const signIn = async (body: object): Promise<Browser> => {
      const page = new Browser({ fetch: (request) => api.app.fetch(request), url: 'http://gateway' });
      const { url } = await api.done<{ url: string }>('POST', '/api/links', body);
      await page.call('POST', '/api/session', { code: url.split('#in=')[1] });
      return page;
    };
    const answer = (page: Browser) =>
      page.call('POST', `/api/runs/${call?.runId}/tool-results`, { callId: call?.callId, result: 'Yes.' });
    const answered = async (): Promise<{ resolvedBy?: string; resolvedByName?: string }> => {
      const { items } = (await api.call('GET', '/api/pending?status=resolved')).body;
      return items.find(({ callId }: { callId: string }) => callId === call?.callId);
    };
    return { world, api, signIn, answer, answered };
  };

  test('an answer has the name of the person, even if only the scopes allow it', async () => {
    const { world, api, signIn, answer, answered } = await waitingCall();
    // Ben is not in the space, so as a person he cannot see the call.
    const ben = await world.person('Ben');
    expect((await answer(await signIn({ entityId: ben }))).status).toBe(404);
    const operator = await signIn({ entityId: ben, scopes: ['write'] });
    expect((await operator.call('GET', '/api/pending')).body.items).toHaveLength(1);
    expect((await operator.call('GET', `/api/pending?entityId=${ben}`)).body.items).toHaveLength(0);
    expect((await answer(operator)).status).toBe(200);
    expect(await answered()).toMatchObject({ resolvedBy: ben, resolvedByName: 'Ben' });
    await world.idle();
    api.app.stop();
  });

  test('an answer of an operator without a person has no name', async () => {
    const { world, api, signIn, answer, answered } = await waitingCall();
    expect((await answer(await signIn({ scopes: ['write'] }))).status).toBe(200);
    const { resolvedBy, resolvedByName } = await answered();
    expect(resolvedBy).toMatch(/^key:/);
    expect(resolvedByName).toBeUndefined();
    await world.idle();
    api.app.stop();
  });
});
