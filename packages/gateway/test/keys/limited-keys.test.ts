import { describe, expect, test } from 'vitest';
import { fixedTool } from '../chat/chat-api.ts';
import { type Api, openApi } from '../http/api.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { databases } from '../support/stores.ts';

describe.each(databases)('limited keys on $kind', ({ create }) => {
  const database = forAllTests(create);
  const api = forAllTests(() => openApi(database));

  /** Calls with a new key. */
  async function keyOf(limits: object, scopes: readonly string[] = ['write']): Promise<Api['call']> {
    const { key } = await api.done<{ key: string }>('POST', '/api/keys', { name: 'k', scopes, ...limits });
    return (method, path, sent) => api.call(method, path, { secret: key, ...sent });
  }

  const idsIn = async (call: Api['call'], path: string): Promise<readonly string[]> =>
    (await call('GET', path)).body.items.map(({ id }: { id: string }) => id);

  test('[O2] a key for certain agents sees these and their runs, no space, and creates nothing', async () => {
    const [mine, other] = [await api.agent('Mine'), await api.agent('Other')];
    const space = await api.space(await api.person(), mine);
    const [run, hidden] = [await api.run(mine), await api.run(other)];
    const call = await keyOf({ agents: ['Mine', mine] }, ['admin']);
    expect(await idsIn(call, '/api/agents')).toEqual([mine]);
    expect(await idsIn(call, '/api/runs')).toEqual([run]);
    expect(await idsIn(call, '/api/spaces')).toEqual([]);
    expect((await call('GET', '/v1/models')).body.data).toMatchObject([{ id: 'Mine' }]);
    expect((await call('GET', `/api/agents/${mine}`)).status).toBe(200);
    for (const path of [`/api/agents/${other}`, `/api/runs/${hidden}`, `/api/spaces/${space}`])
      expect((await call('GET', path)).status, path).toBe(404);
    expect((await call('POST', '/contexts', { body: { agent: other } })).status).toBe(404);
    expect((await call('POST', '/contexts', { body: { agent: mine } })).status).toBe(201);
    for (const [path, body] of [
      ['/api/agents', { name: 'New', instructions: 'Help.' }],
      ['/api/spaces', { name: 'New' }],
      ['/api/entities', { kind: 'human', displayName: 'New' }],
      ['/api/tools', fixedTool('new', 1)],
      ['/api/keys', { name: 'new', scopes: ['admin'] }],
      ['/api/links', {}],
    ] as const)
      expect((await call('POST', path, { body })).status, path).toBe(403);
  });

  test('[O2] a key for certain spaces posts there, sees their members, and no other space', async () => {
    const [ann, ben] = [await api.person('Ann'), await api.person('Ben')];
    const [lobby, attic] = [await api.space(ann), await api.space(ann, ben)];
    const call = await keyOf({ spaces: [lobby] });
    const post = (space: string) =>
      call('POST', `/api/spaces/${space}/messages`, { body: { text: 'Hello.', entityId: ann } });
    expect((await post(lobby)).status).toBe(201);
    expect(await post(attic)).toMatchObject({
      status: 404,
      body: { error: { message: `There is no space "${attic}".` } },
    });
    expect(await idsIn(call, '/api/spaces')).toEqual([lobby]);
    expect(await idsIn(call, '/api/entities')).toEqual([ann]);
    expect((await call('GET', `/api/entities/${ben}`)).status).toBe(404);
    for (const id of [ann, ben]) expect((await call('POST', `/api/entities/${id}/token`)).status).toBe(403);
    const members = `/api/spaces/${lobby}/members`;
    expect((await call('POST', members, { body: { entityId: ben } })).status).toBe(403);
  });

  test('[O2] a key for certain paths may use only these, including their aliases', async () => {
    const agent = await api.agent('Bot');
    const call = await keyOf({ paths: ['POST /contexts', 'GET /contexts/{id}'] }, ['admin']);
    const made = await call('POST', '/api/contexts', { body: { agent } });
    expect(made.status).toBe(201);
    expect((await call('GET', `/contexts/${made.body.id}`)).status).toBe(200);
    const refused = await call('GET', '/api/agents');
    expect(refused).toMatchObject({
      status: 403,
      body: { error: { message: 'This key may not use GET /api/agents.' } },
    });
    expect((await call('DELETE', `/contexts/${made.body.id}`)).status).toBe(403);
    const wrong = await api.call('POST', '/api/keys', {
      body: { name: 'k', scopes: ['read'], paths: ['POST /chats'] },
    });
    expect(wrong.status).toBe(422);
  });

  test('[O2] a key stops at its expiry, also on a gateway that knows it', async () => {
    const expiresAt = Date.now() + 1_000;
    const call = await keyOf({ expiresAt }, ['read']);
    expect((await call('GET', '/api/agents')).status).toBe(200);
    await expect.poll(async () => (await call('GET', '/api/agents')).status, { timeout: 5_000 }).toBe(401);
    expect(Date.now()).toBeGreaterThanOrEqual(expiresAt);
    const past = { name: 'k', scopes: ['read'], expiresAt: Date.now() - 1 };
    expect((await api.call('POST', '/api/keys', { body: past })).status).toBe(422);
  });

  test('[O2] tokens and sessions made with an expiring key end with it', async () => {
    const expiresAt = Date.now() + 60_000;
    const { key } = await api.done<{ key: string }>('POST', '/api/keys', { name: 'k', scopes: ['admin'], expiresAt });
    const token = `/api/entities/${await api.person('Ann')}/token`;
    for (const body of [undefined, { expiresInSeconds: 86_400 }]) {
      const made = await api.call('POST', token, { secret: key, body });
      expect(made.status).toBe(201);
      expect(made.body.expiresAt).toBeLessThanOrEqual(expiresAt);
      expect(made.body.expiresAt).toBeGreaterThan(Date.now());
    }
    const brief = await api.call('POST', token, { secret: key, body: { expiresInSeconds: 5 } });
    expect(brief.body.expiresAt).toBeLessThanOrEqual(Date.now() + 5_000);
    const headers = { origin: 'http://gateway', 'sec-fetch-site': 'same-origin' };
    const signedIn = await api.call('POST', '/api/session', { secret: null, headers, body: { key } });
    const cookie = signedIn.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
    const sent = { secret: null, headers: { ...headers, cookie } };
    const body = { name: 'for ever', scopes: ['admin'] };
    expect((await api.call('POST', '/api/keys', { ...sent, body })).status).toBe(403);
    expect((await api.call('POST', token, sent)).body.expiresAt).toBeLessThanOrEqual(expiresAt);
  });

  test('[O1] [O2] for a draft, a run that the key cannot see does not exist', async () => {
    const [mine, other] = [await api.agent('Mine'), await api.agent('Other')];
    const [own, hidden] = [await api.run(mine), await api.run(other)];
    const call = await keyOf({ agents: [mine] });
    const draft = (body: object) => call('POST', `/api/agents/${mine}/drafts`, { body });
    for (const body of [{ message: 'Go on.', after: hidden }, { again: hidden }])
      expect(await draft(body)).toMatchObject({
        status: 404,
        body: { error: { message: `There is no run "${hidden}".` } },
      });
    // A visible run that is not one of a draft is refused for that.
    expect((await draft({ again: own })).status).toBe(422);
  });

  test('[O2] a key with limits creates no keys, and limits name only what is in its project', async () => {
    const body = { name: 'new', scopes: ['admin'] };
    for (const limits of [
      { rate: { requests: 100, seconds: 1 } },
      { expiresAt: Date.now() + 60_000 },
      { paths: ['POST /api/keys'] },
    ])
      expect((await (await keyOf(limits, ['admin']))('POST', '/api/keys', { body })).status).toBe(403);
    const agent = await api.agent('Bot');
    await api.done('POST', '/api/projects', { id: 'elsewhere' });
    for (const limits of [{ agents: [agent] }, { spaces: [await api.space(await api.person())] }]) {
      const foreign = { name: 'k', scopes: ['read'], project: 'elsewhere', ...limits };
      expect((await api.call('POST', '/api/keys', { body: foreign })).status).toBe(404);
    }
  });

  test('[O2] a key that may only make links makes them for people, who may do what their tokens may', async () => {
    const ann = await api.person('Ann');
    const lobby = await api.space(ann);
    const call = await keyOf({ paths: ['POST /api/links'] });
    const link = await call('POST', '/api/links', { body: { entityId: ann } });
    const headers = { origin: 'http://gateway', 'sec-fetch-site': 'same-origin' };
    const body = { code: link.body.url.split('#in=')[1] };
    const signedIn = await api.call('POST', '/api/session', { secret: null, headers, body });
    const cookie = signedIn.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
    const mine = await api.call('GET', '/api/spaces', { secret: null, headers: { ...headers, cookie } });
    expect(mine.body.items).toMatchObject([{ id: lobby }]);
  });

  test('[O2] a browser that signs in with a limited key has the same limits', async () => {
    const [mine, other] = [await api.agent('Mine'), await api.agent('Other')];
    const { key } = await api.done<{ key: string }>('POST', '/api/keys', {
      name: 'k',
      scopes: ['read'],
      agents: [mine],
      paths: ['GET /api/agents/{id}'],
    });
    const headers = { origin: 'http://gateway', 'sec-fetch-site': 'same-origin' };
    const signedIn = await api.call('POST', '/api/session', { secret: null, headers, body: { key } });
    expect(signedIn.status).toBe(201);
    const cookie = signedIn.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
    const get = async (path: string) =>
      (await api.call('GET', path, { secret: null, headers: { ...headers, cookie } })).status;
    expect(await get(`/api/agents/${mine}`)).toBe(200);
    expect(await get(`/api/agents/${other}`)).toBe(404);
    expect(await get('/api/runs')).toBe(403);
  });

  test('[O2] [O1] an operator who signed in with a key of a project acts for people of that project alone', async () => {
    await api.done('POST', '/api/projects', { id: 'office' });
    const { key } = await api.done<{ key: string }>('POST', '/api/keys', {
      name: 'k',
      scopes: ['read', 'write'],
      project: 'office',
    });
    const inside = await api.call('POST', '/api/entities', {
      secret: key,
      body: { kind: 'human', displayName: 'Ann' },
    });
    const outside = await api.person('Ben');
    const headers = { origin: 'http://gateway', 'sec-fetch-site': 'same-origin' };
    const signedIn = await api.call('POST', '/api/session', { secret: null, headers, body: { key } });
    const cookie = signedIn.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
    const actFor = (entityId: string) =>
      api.call('PATCH', '/api/session', { secret: null, headers: { ...headers, cookie }, body: { entityId } });
    expect(await actFor(inside.body.id)).toMatchObject({ status: 200, body: { entity: { id: inside.body.id } } });
    expect((await actFor(outside)).status).toBe(422);
  });
});
