import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { GatewayLimits } from '../../src/config/limits.ts';
import { waitFor } from '../../src/testing/wait-for.ts';
import { type Api, toRequest } from '../http/api.ts';
import { describeWorlds, type OpenWorld } from '../support/describe-worlds.ts';
import { databases } from '../support/stores.ts';
import type { World } from '../support/world.ts';
import { call, chatApi } from './chat-api.ts';

const DOORS = [
  { path: '/chat', bodyOf: (agent: string) => ({ agent, message: 'Pay' }) },
  {
    path: '/v1/chat/completions',
    bodyOf: (agent: string) => ({ model: agent, messages: [{ role: 'user', content: 'Pay' }] }),
  },
  { path: '/v1/responses', bodyOf: (agent: string) => ({ model: agent, input: 'Pay' }) },
];

interface Slow {
  readonly world: World;
  readonly api: Api;
  readonly agent: string;
  /** How many calls of its tool have begun. */
  begun(): number;
  finish(): void;
}

/** An agent whose tool runs until the test calls `finish`. */
async function slowAgent(open: OpenWorld, limits: Partial<GatewayLimits> = {}): Promise<Slow> {
  const gate = Promise.withResolvers<void>();
  let begun = 0;
  const pay = tool({
    description: 'Pays.',
    inputSchema: z.object({}),
    execute: async () => {
      begun += 1;
      await gate.promise;
      return 'Paid.';
    },
  });
  const model = scriptedModel(({ prompt }) => (prompt.at(-1)?.role === 'tool' ? 'It is paid.' : call('pay')));
  const world = await open({ models: { default: model }, tools: { pay }, limits });
  const api = await chatApi(world);
  const agent = await api.agent('Payer', { tools: ['pay'] });
  return { world, api, agent, begun: () => begun, finish: () => gate.resolve() };
}

async function countRuns(world: World): Promise<number> {
  return (await world.store.db.selectFrom('runs').select('id').execute()).length;
}

describeWorlds(
  'requests that wait for their runs',
  (open) => {
    test.each(DOORS)('$path: beyond the limit, a request is refused and starts nothing', async ({ path, bodyOf }) => {
      const { world, api, agent, begun, finish } = await slowAgent(open, { connections: 1 });
      const first = api.call('POST', path, { body: bodyOf(agent) });
      await waitFor(() => begun() === 1);
      const before = await countRuns(world);
      const refused = await api.call('POST', path, { body: bodyOf(agent) });
      expect(refused.status).toBe(429);
      expect(refused.headers.get('retry-after')).toBe('5');
      expect(refused.body.error).toMatchObject({ code: 'too_many_streams' });
      finish();
      expect((await first).status).toBe(200);
      expect((await api.call('POST', path, { body: bodyOf(agent) })).status).toBe(200);
      await world.idle();
      expect([begun(), await countRuns(world)]).toEqual([2, before + 1]);
    });

    test.each(DOORS)(
      '[G65] $path: a caller has a share of the requests that wait, and the rest is left to others',
      async ({ path, bodyOf }) => {
        const { world, api, agent, begun, finish } = await slowAgent(open, { connections: 3, connectionsPerCaller: 1 });
        const first = api.call('POST', path, { body: bodyOf(agent) });
        await waitFor(() => begun() === 1);
        const before = await countRuns(world);
        const refused = await api.call('POST', path, { body: bodyOf(agent) });
        expect([refused.status, refused.body.error.code]).toEqual([429, 'too_many_streams']);
        expect(refused.body.error.message).toContain('limits.connectionsPerCaller');
        expect(await countRuns(world)).toBe(before);
        const other = api.call('POST', path, { body: bodyOf(agent), secret: await api.keyWith('write') });
        await waitFor(() => begun() === 2);
        finish();
        expect([(await first).status, (await other).status]).toEqual([200, 200]);
      },
    );

    test('requests that wait and streams share one limit', async () => {
      const { api, agent, begun, finish } = await slowAgent(open, { connections: 1 });
      const waiting = api.call('POST', '/chat', { body: { agent, message: 'Pay' } });
      await waitFor(() => begun() === 1);
      const lobby = await api.space(await api.person());
      const stream = await api.app.fetch(toRequest('GET', `/api/spaces/${lobby}/stream`, { secret: api.key }));
      expect(stream.status).toBe(429);
      finish();
      expect((await waiting).status).toBe(200);
    });

    test('a client that disconnects, and a request that is refused, release their places', async () => {
      const { api, agent, begun, finish } = await slowAgent(open, { connections: 1 });
      const leaving = new AbortController();
      const left = api.app.fetch(
        new Request(toRequest('POST', '/chat', { secret: api.key, body: { agent, message: 'Pay' } }), {
          signal: leaving.signal,
        }),
      );
      await waitFor(() => begun() === 1);
      leaving.abort();
      expect((await left).status).toBe(499);
      expect((await api.call('POST', '/chat', { body: { agent: 'Nobody', message: 'Pay' } })).status).toBe(404);
      finish();
      expect((await api.call('POST', '/chat', { body: { agent, message: 'Pay' } })).status).toBe(200);
    });

    test('a stream that reserved a place gets it, even if it is the last one', async () => {
      const { api, agent, finish } = await slowAgent(open, { connections: 1 });
      finish();
      const headers = { accept: 'text/event-stream' };
      const body = { agent, message: 'Pay' };
      const stream = await api.app.fetch(toRequest('POST', '/chat', { secret: api.key, body, headers }));
      expect(stream.status).toBe(200);
      expect(await stream.text()).toContain('event: done');
    });

    test.each(DOORS)(
      '$path: if the key is revoked while a request waits, the request ends at once with that error, and the run continues',
      async ({ path, bodyOf }) => {
        const { world, api, agent, begun, finish } = await slowAgent(open);
        const { id, key } = await api.done<{ id: string; key: string }>('POST', '/api/keys', {
          name: 'short',
          scopes: ['write'],
        });
        const waiting = api.call('POST', path, { secret: key, body: bodyOf(agent) });
        await waitFor(() => begun() === 1);
        await api.done('DELETE', `/api/keys/${id}`);
        // The wait has ended, but the run has not.
        const { status, headers, body } = await waiting;
        const { items } = await api.done<{ items: { id: string }[] }>('GET', `/api/runs?agentId=${agent}`);
        const runId = items[0]?.id ?? '';
        expect([status, body.error.code]).toEqual([403, 'access_ended']);
        expect(body.error.message).toContain(`Run ${runId} continues`);
        if (path.startsWith('/v1')) expect(headers.get('x-should-retry')).toBe('false');
        finish();
        await world.idle();
        const run = await api.done<{ result: { response: string } }>('GET', `/api/runs/${runId}`);
        expect(run.result.response).toBe('It is paid.');
      },
    );

    test('a page that waits for a run without a stream is limited, may disconnect without an error in the log, and ends with its key', async () => {
      const { world, api, agent, begun, finish } = await slowAgent(open, { connections: 2 });
      await api.done('POST', '/contexts', { id: 'chat', agent });
      const waiting = api.call('POST', '/chat', { body: { context_id: 'chat', message: 'Pay' } });
      await waitFor(() => begun() === 1);
      const newKey = async (): Promise<{ readonly id: string; readonly key: string }> =>
        await api.done('POST', '/api/keys', { name: 'page', scopes: ['write'] });
      const resume = async (key: string, signal: AbortSignal): Promise<number> => {
        const request = toRequest('GET', `/api/agents/${agent}/chat/chat/stream`, { secret: key });
        return (await api.app.fetch(new Request(request, { signal }))).status;
      };
      /** There is only one place. If one request is refused, the other one is known to wait. */
      const resumeTwice = async (
        key: string,
        { signal } = new AbortController(),
      ): Promise<readonly Promise<number>[]> => {
        const two = [resume(key, signal), resume(key, signal)];
        expect(await Promise.race(two)).toBe(429);
        return two;
      };
      const leaving = new AbortController();
      const left = await resumeTwice((await newKey()).key, leaving);
      leaving.abort();
      expect((await Promise.all(left)).toSorted()).toEqual([429, 499]);
      expect(world.logs.filter(({ level }) => level === 'error')).toEqual([]);
      const revokeWhileWaiting = async (): Promise<readonly number[]> => {
        const { id, key } = await newKey();
        const revoked = await resumeTwice(key);
        await api.done('DELETE', `/api/keys/${id}`);
        return (await Promise.all(revoked)).toSorted();
      };
      let statuses = await revokeWhileWaiting();
      // The key was revoked before the request that got the place had read anything.
      while (statuses[0] === 401) statuses = await revokeWhileWaiting();
      expect(statuses).toEqual([403, 429]);
      finish();
      expect((await waiting).status).toBe(200);
    });

    test('an entity that was deleted while its request waited does not get the answer', async () => {
      const { world, api, agent, begun, finish } = await slowAgent(open);
      const ada = await api.person();
      await api.space(ada, agent);
      const waiting = api.call('POST', '/chat', { secret: await api.tokenOf(ada), body: { agent, message: 'Pay' } });
      await waitFor(() => begun() === 1);
      await world.in((tx) => tx.db.updateTable('entities').set({ deleted_at: 1 }).where('id', '=', ada).execute());
      finish();
      const { status, body } = await waiting;
      expect([status, body.error.code]).toEqual([403, 'access_ended']);
      await world.idle();
    });
  },
  databases,
);
