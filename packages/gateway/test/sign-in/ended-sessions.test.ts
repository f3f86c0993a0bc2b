import { scriptedModel } from '@lastcall/core/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { type Api, openApi } from '../http/api.ts';
import { type EventStream, readEventStream } from '../streams/event-stream.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { embedded } from '../support/stores.ts';
import { Browser } from './browser.ts';

const opened: EventStream[] = [];
afterEach(async () => {
  for (const stream of opened.splice(0)) await stream.close().catch(() => {});
});

/** No heartbeat ever comes, so it cannot be what ends a stream here. */
const NEVER_MS = 1_000_000;

const browserOf = (api: Api): Browser =>
  new Browser({ fetch: (request) => api.app.fetch(request), url: 'http://gateway' });

async function open(page: Browser, path: string): Promise<EventStream> {
  const stream = readEventStream(await page.send('GET', path));
  opened.push(stream);
  expect(stream.status).toBe(200);
  return stream;
}

describe.each(embedded)('streams of a session on $kind', ({ create }) => {
  const database = forAllTests(create);
  const api = forAllTests(() => openApi(database, { heartbeatMs: NEVER_MS }));

  const endings: readonly [string, (given: { page: Browser; keyId: string; id: string }) => Promise<unknown>][] = [
    ['signs out', ({ page }) => page.call('DELETE', '/api/session')],
    ['is ended by somebody else', ({ id }) => api.done('DELETE', `/api/sessions/${id}`)],
    ['lost the key it was made with', ({ keyId }) => api.done('DELETE', `/api/keys/${keyId}`)],
  ];
  for (const [how, end] of endings)
    test(`[G50] a stream of a session that ${how} ends, and gets no later messages`, async () => {
      const ada = await api.person();
      const space = await api.space(ada);
      const say = (text: string) => api.done('POST', `/api/spaces/${space}/messages`, { entityId: ada, text });
      const { id: keyId, key } = await api.done<{ id: string; key: string }>('POST', '/api/keys', {
        name: 'door',
        scopes: ['write'],
      });
      const page = browserOf(api);
      const { id } = (await page.call('POST', '/api/session', { key, entityId: ada })).body;
      const stream = await open(page, `/api/spaces/${space}/stream`);
      const other = browserOf(api);
      await other.call('POST', '/api/session', { key: api.key });
      const others = await open(other, `/api/spaces/${space}/stream`);
      await say('before');
      await end({ page, keyId, id });
      await say('after');
      const texts = (await stream.rest()).map(({ data }) => data.message?.text);
      expect(texts).toEqual(['before']);
      expect((await others.take(2)).map(({ data }) => data.message.text)).toEqual(['before', 'after']);
    });

  test('[G50] the stream of a session with only a person ends when the person leaves the space', async () => {
    const ada = await api.person();
    const space = await api.space(ada);
    const link = await api.done<{ url: string }>('POST', '/api/links', { entityId: ada });
    const page = browserOf(api);
    await page.call('POST', '/api/session', { code: link.url.split('#in=')[1] });
    const stream = await open(page, `/api/spaces/${space}/stream`);
    const ben = await api.person('Ben');
    await api.done('DELETE', `/api/spaces/${space}/members?entityId=${ada}`);
    await api.done('POST', `/api/spaces/${space}/members`, { entityId: ben });
    expect((await stream.rest()).map(({ event }) => event)).toEqual(['member.left']);
  });
});

describeWorlds('requests of a session that wait', (openWorld) => {
  const database = { open: () => Promise.reject(new Error('The store is open already.')) } as never;

  test('a request that waits for a run ends with its session, and the run continues', async () => {
    const { promise: asked, resolve: onAsked } = Promise.withResolvers<void>();
    const { promise: answer, resolve: answerNow } = Promise.withResolvers<string>();
    const model = scriptedModel([
      async () => {
        onAsked();
        return await answer;
      },
    ]);
    const world = await openWorld({ models: { default: model } });
    const agent = await world.agent('Bot');
    const api = await openApi(database, { services: world.services, registry: world.registry });
    const page = browserOf(api);
    await page.call('POST', '/api/session', { key: api.key });
    const waiting = page.call('POST', '/api/chat', { agent, message: 'Hello.' });
    await asked;
    const { items } = (await page.call('GET', '/api/sessions')).body;
    await api.done('DELETE', `/api/sessions/${items[0].id}`);
    expect(await waiting).toMatchObject({
      status: 403,
      body: { error: { code: 'access_ended', details: { run_id: expect.any(String) } } },
    });
    answerNow('Hello yourself.');
    await world.idle();
    const runs = await api.done<{ items: { status: string }[] }>('GET', `/api/runs?agentId=${agent}`);
    expect(runs.items.map(({ status }) => status)).toEqual(['completed']);
    api.app.stop();
  });
});
