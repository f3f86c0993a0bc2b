import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { ApiError } from '../../src/domain/api-error.ts';
import { StoreUnavailable } from '../../src/ports/store/store-error.ts';
import { awaitRun } from '../../src/runtime/chat/await-run.ts';
import { endpoint } from '../../src/transport/http/endpoint.ts';
import { openApi, toRequest } from '../http/api.ts';
import { chatWith } from '../support/conversations.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { databases } from '../support/stores.ts';
import { chatApi } from './chat-api.ts';

describeWorlds(
  'a request whose turn is stored',
  (open) => {
    test.each([
      { path: '/chat', bodyOf: (agent: string) => ({ agent, message: 'Pay' }) },
      {
        path: '/v1/chat/completions',
        bodyOf: (agent: string) => ({ model: agent, stream: true, messages: [{ role: 'user', content: 'Pay' }] }),
      },
      { path: '/v1/responses', bodyOf: (agent: string) => ({ model: agent, stream: true, input: 'Pay' }) },
      {
        path: '/api/agents/payer/chat',
        bodyOf: () => ({ id: 'page', messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Pay' }] }] }),
      },
    ])(
      '$path: if there is no room for a stream, the request is refused before anything is run',
      async ({ path, bodyOf }) => {
        const model = scriptedModel(() => 'Paid.');
        const world = await open({ models: { default: model }, limits: { connections: 1 } });
        const api = await chatApi(world);
        const agent = await api.agent('Payer');
        const lobby = await api.space(await api.person());
        const taken = await api.app.fetch(toRequest('GET', `/api/spaces/${lobby}/stream`, { secret: api.key }));
        const refused = await api.app.fetch(
          toRequest('POST', path.replace('payer', agent), {
            secret: api.key,
            body: bodyOf(agent),
            headers: { accept: 'text/event-stream' },
          }),
        );
        expect(refused.status).toBe(429);
        await world.idle();
        await taken.body?.cancel();
        expect(model.requests).toEqual([]);
      },
    );

    test('a store that is unavailable while a client waits for its run is read again', async () => {
      const world = await open({ models: { default: scriptedModel(() => 'Paid.') } });
      const chat = await chatWith(world);
      const { runId } = await chat.start({ message: 'Pay' });
      let failures = 0;
      const { store, bus, limits } = world.services;
      const db = store.db.withPlugin({
        transformQuery: ({ node }) => node,
        async transformResult({ result }) {
          if (++failures <= 2) throw new StoreUnavailable(new Error('away'));
          return result;
        },
      });
      const answer = await awaitRun({ store: { ...store, db }, bus, limits }, runId);
      expect(answer.response).toBe('Paid.');
      expect(failures).toBeGreaterThan(2);
    });

    test.each([
      ['the store is away', 503, () => new StoreUnavailable(new Error('away'))],
      ['there is no room', 503, () => new ApiError('too_many_streams', 'There is no room.', { retryAfter: 5 })],
      // Clients retry after a 401 or a 503, but not after a 403.
      ['the token has expired', 403, () => new ApiError('unauthorized', 'The key or token is not valid.')],
      ['the gateway stops', 503, () => new ApiError('stopping', 'The gateway is stopping.', { retryAfter: 1 })],
    ])('if %s after the commit, the error does not say that nothing was done', async (_why, told, failure) => {
      const world = await open({ models: { default: scriptedModel(() => 'Paid.') } });
      const failing = endpoint({
        method: 'post',
        path: '/api/failing',
        summary: 'Stores something, and fails',
        access: 'key',
        answer: z.strictObject({}),
        refusals: [429, 503],
        handle: async () => ({}),
        respond: () => Promise.reject(failure()),
      });
      const api = await openApi(undefined as never, { services: world.services, endpoints: [failing] });
      const { status, body } = await api.call('POST', '/api/failing');
      expect([status, body.error.details]).toEqual([told, { inDoubt: true }]);
      expect(body.error.message).not.toContain('Nothing was changed');
    });
  },
  databases,
);
