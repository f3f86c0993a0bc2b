import { describe, expect, test } from 'vitest';
import { startTurn } from '../../src/runtime/chat/start-turn.ts';
import type { Registry } from '../../src/runtime/toolset/registry.ts';
import { type Api, openApi } from '../http/api.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { databases } from '../support/stores.ts';

const PAGE = { origin: 'http://gateway', 'sec-fetch-site': 'same-origin' };

describe.each(databases)('the boundaries of projects on $kind', ({ create }) => {
  const database = forAllTests(create);
  const api = forAllTests(() => openApi(database));
  let count = 0;

  /** Calls of a key of a new project. */
  async function project(): Promise<{ readonly id: string; readonly call: Api['call']; make: Make }> {
    const id = `e${++count}`;
    await api.done('POST', '/api/projects', { id });
    const { key } = await api.done<{ key: string }>('POST', '/api/keys', { name: id, scopes: ['admin'], project: id });
    const call: Api['call'] = (method, path, sent) => api.call(method, path, { secret: key, ...sent });
    const make: Make = async (path, body) => (await call('POST', path, { body })).body.id;
    return { id, call, make };
  }

  type Make = (path: string, body: object) => Promise<string>;

  const bot = { name: 'Bot', instructions: 'Help.' };

  /** Calls with the cookie of a browser that signs in. */
  async function signIn(body: object): Promise<Api['call']> {
    const signedIn = await api.call('POST', '/api/session', { secret: null, headers: PAGE, body });
    expect(signedIn.status, JSON.stringify(signedIn.body)).toBe(201);
    const cookie = signedIn.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
    return (method, path, sent) =>
      api.call(method, path, { ...sent, secret: null, headers: { ...PAGE, cookie, ...sent?.headers } });
  }

  test('[O1] names in requests with a token mean agents of its own project: names of other projects neither conflict nor are revealed', async () => {
    const [one, two] = [await project(), await project()];
    await two.make('/api/agents', bot);
    await two.make('/api/agents', { ...bot, name: 'Secret' });
    await two.make('/api/agents', { ...bot, name: 'Secret' });
    const agent = await one.make('/api/agents', bot);
    const ann = await one.make('/api/entities', { kind: 'human', displayName: 'Ann' });
    await one.make('/api/spaces', { name: 'Lobby', members: [{ entityId: ann }, { entityId: agent }] });
    const secret = await api.tokenOf(ann);
    for (const body of [{ agent: 'Bot' }, {}])
      expect(await api.call('POST', '/contexts', { secret, body })).toMatchObject({
        status: 201,
        body: { agent_id: agent },
      });
    const missing = { status: 404, body: { error: { message: 'There is no agent "Secret".' } } };
    expect(await api.call('POST', '/contexts', { secret, body: { agent: 'Secret' } })).toMatchObject(missing);
    expect(await api.call('POST', '/chat', { secret, body: { agent: 'Secret', message: 'Hi' } })).toMatchObject(
      missing,
    );
  });

  test('[O1] a new agent cannot tell a space of another project from one that does not exist', async () => {
    const [one, two] = [await project(), await project()];
    const space = await two.make('/api/spaces', { name: 'Attic' });
    for (const id of [space, 'none'])
      expect(await one.call('POST', '/api/agents', { body: { ...bot, spaceIds: [id] } })).toMatchObject({
        status: 404,
        body: { error: { message: `There is no space "${id}".` } },
      });
  });

  test('[O1] a link that is made for one project does not sign in to all of them', async () => {
    const { id } = await project();
    const headers = { 'lastcall-project': id };
    const refused = await api.call('POST', '/api/links', { headers, body: { scopes: ['admin'] } });
    expect(refused).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } });
    expect((await api.call('POST', '/api/links', { headers, body: {} })).status).toBe(403);
    expect((await api.call('POST', '/api/links', { body: {} })).status).toBe(201);
  });

  test('[O1] a conversation that an operator begins in another project does not belong to the person of the operator', async () => {
    const one = await project();
    const agent = await one.make('/api/agents', bot);
    const ann = await api.person('Ann');
    const call = await signIn({ key: api.key, entityId: ann });
    const made = await call('POST', '/contexts', { body: { agent } });
    expect(made.status).toBe(201);
    expect(made.body).not.toHaveProperty('entity_id');
    // Her name is not in the events of the project's agent either, and so not in its usage.
    await api.store.transaction((tx) =>
      startTurn(tx, { tools: {} } as unknown as Registry, {
        caller: { kind: 'key', keyId: 'k', entityId: ann },
        conversation: { contextId: made.body.id },
        input: { message: 'Hi.' },
      }),
    );
    const events = await api.store.db.selectFrom('inbox_events').select('payload').execute();
    expect(events).toHaveLength(1);
    expect(JSON.stringify(events)).not.toContain(ann);
    const secret = await api.tokenOf(ann);
    expect((await api.call('GET', `/contexts/${made.body.id}`, { secret })).status).toBe(404);
    const own = await call('POST', '/contexts', { body: { agent: await api.agent('Own') } });
    expect(own.body).toMatchObject({ entity_id: ann });
  });
});
