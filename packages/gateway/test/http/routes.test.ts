import { describe, expect, test } from 'vitest';
import { revokeKey } from '../../src/domain/keys/api-key.ts';
import { MCP_CALLBACK } from '../../src/transport/http/routes/mcp.ts';
import { openWaiting } from '../calls/open-waiting.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { databases } from '../support/stores.ts';
import { type Document, openApi } from './api.ts';

/** Its signature authorizes it. */
const SIGNED_ADDRESS = '/api/artifacts/{id}/content';

describe.each(databases)('the API on $kind', ({ create }) => {
  const database = forAllTests(create);
  const api = forAllTests(() => openApi(database));

  test('entities are created, found by their external id, listed in pages and given tokens', async () => {
    const ada = await api.call('POST', '/api/entities', {
      body: { kind: 'human', displayName: 'Ada', externalId: 'user-1', metadata: { team: 'math' } },
    });
    expect(ada.status).toBe(201);
    expect(ada.body).toMatchObject({ kind: 'human', displayName: 'Ada', metadata: { team: 'math' } });
    await api.done('POST', '/api/entities', { kind: 'service', displayName: 'Billing' });
    const again = await api.done('POST', '/api/entities', {
      kind: 'human',
      displayName: 'Other',
      externalId: 'user-1',
    });
    expect(again).toEqual(ada.body);
    const first = await api.done<{ items: unknown[]; next: string }>('GET', '/api/entities?limit=1');
    expect(first.items).toHaveLength(1);
    const rest = await api.done<{ items: unknown[]; next?: string }>('GET', `/api/entities?cursor=${first.next}`);
    expect([...first.items, ...rest.items]).toHaveLength(2);
    expect(rest).not.toHaveProperty('next');
    expect(await api.done('GET', `/api/entities/${ada.body.id}`)).toEqual(ada.body);
    const token = await api.done<{ token: string; expiresAt: number }>('POST', `/api/entities/${ada.body.id}/token`);
    expect((await api.call('GET', '/api/spaces', { secret: token.token })).body).toEqual({ items: [] });
    expect((await api.call('POST', '/api/entities/nobody/token')).status).toBe(404);
  });

  test('spaces have members, and messages in pages', async () => {
    const [ada, ben] = [await api.person('Ada'), await api.person('Ben')];
    const space = await api.space(ada);
    await api.done('POST', `/api/spaces/${space}/members`, { entityId: ben, role: 'guest' });
    const members = await api.done<{ items: { entityId: string }[] }>('GET', `/api/spaces/${space}/members`);
    expect(members.items.map(({ entityId }) => entityId).sort()).toEqual([ada, ben].sort());
    for (const text of ['one', 'two', 'three'])
      await api.done('POST', `/api/spaces/${space}/messages`, { entityId: ada, text });
    const stranger = await api.person('Eve');
    const refused = await api.call('POST', `/api/spaces/${space}/messages`, {
      body: { entityId: stranger, text: 'hi' },
    });
    expect([refused.status, refused.body.error.message]).toEqual([404, `"${stranger}" is not a member of this space.`]);
    const newest = await api.done<{ items: { text: string; seq: number }[]; hasMore: boolean }>(
      'GET',
      `/api/spaces/${space}/messages?limit=2`,
    );
    expect(newest).toMatchObject({ items: [{ text: 'two' }, { text: 'three' }], hasMore: true });
    const before = await api.done('GET', `/api/spaces/${space}/messages?before=2`);
    expect(before).toMatchObject({ items: [{ text: 'one', seq: 1 }], hasMore: false });
    expect(await api.done('DELETE', `/api/spaces/${space}/members`, { entityId: ben })).toEqual({
      spaceId: space,
      entityId: ben,
    });
    expect((await api.call('DELETE', `/api/spaces/${space}/members?entityId=${ben}`)).status).toBe(404);
    await api.done('DELETE', `/api/spaces/${space}/members?entityId=${ada}`);
    expect((await api.call('DELETE', `/api/spaces/${space}/members`)).status).toBe(422);
  });

  test('[G2] the same clientMessageId is one message, and both answers carry its id', async () => {
    const ada = await api.person();
    const space = await api.space(ada);
    const body = { entityId: ada, text: 'once', clientMessageId: 'c1' };
    const [one, two] = await Promise.all([1, 2].map(() => api.call('POST', `/api/spaces/${space}/messages`, { body })));
    expect([one?.status, two?.status]).toEqual([201, 201]);
    expect(one?.body.id).toBe(two?.body.id);
    expect([one?.body.duplicate, two?.body.duplicate].filter(Boolean)).toHaveLength(1);
  });

  test('[G1] a token has access only where its entity is a member; everything else is not found, or needs a key', async () => {
    const [ada, eve] = [await api.person('Ada'), await api.person('Eve')];
    const space = await api.space(ada);
    const [adas, eves] = [await api.tokenOf(ada), await api.tokenOf(eve)];
    const paths = ['', '/members', '/messages', '/stream'];
    for (const path of paths) {
      expect((await api.call('GET', `/api/spaces/${space}${path}`, { secret: eves })).status).toBe(404);
      // A missing object and one that must not be seen get the same answer.
      const absent = await api.call('GET', `/api/spaces/nowhere${path}`, { secret: eves });
      const hidden = await api.call('GET', `/api/spaces/${space}${path}`, { secret: eves });
      expect(JSON.stringify(hidden.body).replace(space, 'nowhere')).toBe(JSON.stringify(absent.body));
    }
    for (const path of ['', '/members', '/messages'])
      expect((await api.call('GET', `/api/spaces/${space}${path}`, { secret: adas })).status).toBe(200);
    const post = (secret: string, body: object) => api.call('POST', `/api/spaces/${space}/messages`, { secret, body });
    expect((await post(adas, { text: 'hello' })).body).toMatchObject({ entityId: ada, text: 'hello' });
    expect((await post(adas, { text: 'hello', entityId: ada })).status).toBe(201);
    expect((await post(adas, { text: 'I am Eve', entityId: eve })).body.error.details.path).toBe('entityId');
    expect((await post(eves, { text: 'let me in' })).status).toBe(404);
    expect((await api.call('GET', '/api/spaces', { secret: eves })).body.items).toEqual([]);
    expect((await api.call('GET', `/api/spaces?entityId=${ada}`, { secret: eves })).status).toBe(422);
    for (const [method, path, body] of [
      ['GET', '/api/agents'],
      ['GET', '/api/entities'],
      ['GET', '/api/runs'],
      ['GET', '/api/keys'],
      ['GET', '/api/runs/any/stream'],
      ['POST', '/api/spaces', { name: 'Mine' }],
      ['POST', `/api/spaces/${space}/members`, { entityId: ada }],
      ['POST', `/api/entities/${ada}/token`, {}],
    ] as const)
      expect([path, (await api.call(method, path, { secret: adas, body })).status]).toEqual([path, 403]);
  });

  test('a message needs an entity that it is posted for', async () => {
    const space = await api.space(await api.person());
    const answer = await api.call('POST', `/api/spaces/${space}/messages`, { body: { text: 'hello' } });
    expect([answer.status, answer.body.error.details.path]).toEqual([422, 'entityId']);
    const stranger = await api.person('Eve');
    const body = { text: 'hello', entityId: stranger };
    expect((await api.call('POST', `/api/spaces/${space}/messages`, { body })).status).toBe(404);
  });

  test('[G15] agents are created, changed, paused, sent events and deleted; an invalid change leaves the old configuration', async () => {
    const space = await api.space();
    const created = await api.call('POST', '/api/agents', {
      body: { name: 'Scribe', instructions: 'Write.', spaceIds: [space] },
    });
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({ name: 'Scribe', status: 'active', config: { instructions: 'Write.' } });
    const path = `/api/agents/${created.body.id}`;
    const changed = await api.done('PATCH', path, { instructions: 'Write well.' });
    expect(changed).toMatchObject({ configVersion: 2, config: { name: 'Scribe', instructions: 'Write well.' } });
    const refused = await api.call('PATCH', path, { body: { limits: { maxSteps: -1 } } });
    expect([refused.status, refused.body.error.details.path]).toEqual([422, 'limits.maxSteps']);
    expect(await api.done('GET', path)).toEqual(changed);
    expect(await api.done('POST', `${path}/pause`)).toMatchObject({ status: 'paused' });
    const event = { source: 'billing', name: 'paid', data: { amount: 3 }, eventId: 'e1' };
    expect(await api.done('POST', `${path}/events`, event)).toEqual({ eventId: 'e1', duplicate: false });
    expect(await api.done('POST', `${path}/events`, event)).toEqual({ eventId: 'e1', duplicate: true });
    expect(await api.done('GET', `${path}/inbox?status=pending`)).toMatchObject({
      items: [{ eventId: 'e1', type: 'service', event: { data: { amount: 3 } } }],
    });
    expect(await api.done('POST', `${path}/inbox/redrive`)).toEqual({ eventIds: [] });
    expect(await api.done('POST', `${path}/resume`)).toMatchObject({ status: 'active' });
    for (const [part, empty] of [
      ['goals', { items: [] }],
      ['memories', { items: [] }],
      ['plans', { items: [] }],
      ['consciousness', { messages: [], entries: [], nextSeq: 1 }],
      ['transcript', { messages: [], entries: [], nextSeq: 1 }],
    ] as const)
      expect(await api.done('GET', `${path}/${part}`)).toEqual(empty);
    expect(await api.done('DELETE', path)).toEqual({ id: created.body.id, status: 'deleted' });
    for (const part of ['', '/goals', '/memories', '/plans', '/consciousness', '/inbox'])
      expect([part, (await api.call('GET', `${path}${part}`)).status]).toEqual([part, 404]);
  });

  test('an agent with an unknown tool is refused with its path', async () => {
    const strict = await openApi(database, {
      services: api.services,
      offered: { isKnownTool: (name) => name === 'known', definitions: {}, currency: 'USD' },
    });
    const body = { name: 'A', instructions: '', tools: ['known', 'unknown'] };
    const answer = await strict.call('POST', '/api/agents', { body });
    expect([answer.status, answer.body.error.code, answer.body.error.details.path]).toEqual([
      422,
      'invalid_config',
      'tools[1]',
    ]);
  });

  test('[G29] [G33] waiting calls are listed and answered over HTTP, each answer once', async () => {
    const [ada, eve] = [await api.person('Ada'), await api.person('Eve')];
    const agent = await api.agent();
    const space = await api.space(ada, agent);
    const [adas, eves] = [await api.tokenOf(ada), await api.tokenOf(eve)];
    const open = (callId: string, more: object = {}) =>
      api.store.transaction((tx) =>
        openWaiting(tx, {
          callId,
          agentId: agent,
          runId: 'run-1',
          spaceId: space,
          toolName: 'confirm',
          kind: 'result',
          input: { question: 'Now?' },
          resultSchema: { type: 'object', properties: { yes: { type: 'boolean' } }, required: ['yes'] },
          ...more,
        }),
      );
    const answer = (body: object, secret: string = adas, run = 'run-1') =>
      api.call('POST', `/api/runs/${run}/tool-results`, { body, secret });
    const callId = `call-${database.kind}`;
    await open(callId);
    const listed = await api.call('GET', '/api/pending', { secret: adas });
    expect(listed.body.items).toMatchObject([{ callId, toolName: 'confirm', input: { question: 'Now?' } }]);
    expect((await api.call('GET', '/api/pending', { secret: eves })).body).toEqual({ items: [] });
    expect((await answer({ callId, result: { yes: 'maybe' } })).status).toBe(422);
    expect((await answer({ callId, approve: true })).status).toBe(422);
    expect((await answer({ callId, result: { yes: true } }, eves)).status).toBe(404);
    expect((await answer({ callId, result: { yes: true } }, adas, 'run-2')).status).toBe(404);
    expect((await answer({ callId: 'unknown', result: 1 })).status).toBe(404);
    expect((await answer({ callId, result: { yes: true, long: 'x'.repeat(300_000) } })).status).toBe(413);
    expect(await answer({ callId, result: { yes: true } })).toMatchObject({
      status: 200,
      body: { callId, duplicate: false },
    });
    expect(await answer({ callId, result: { yes: true } })).toMatchObject({ status: 200, body: { duplicate: true } });
    const other = await answer({ callId, result: { yes: false } });
    expect([other.status, other.body.error.code]).toEqual([409, 'already_answered']);
    expect(other.body.error.details.answer).toEqual({ result: { yes: true } });
    await open(`${callId}-named`, { answeredBy: { roles: ['boss'] } });
    expect((await answer({ callId: `${callId}-named`, result: { yes: true } })).status).toBe(403);
    await open(`${callId}-late`, { expiresAt: Date.now() - 60_000 });
    expect((await answer({ callId: `${callId}-late`, result: { yes: true } })).body.error.code).toBe('expired');
    // Refused, but kept for operators.
    const expired = await api.done<{ items: { callId: string; lateAnswers: object[] }[] }>(
      'GET',
      '/api/pending?status=expired',
    );
    const late = expired.items.find((one) => one.callId === `${callId}-late`);
    expect(late?.lateAnswers).toMatchObject([{ answer: { result: { yes: true } } }]);
    const own = await api.call('GET', '/api/pending?status=expired', { secret: adas });
    expect([own.status, JSON.stringify(own.body).includes('lateAnswers')]).toEqual([200, false]);
    expect((await api.call('GET', '/api/pending?status=lost')).status).toBe(422);
  });

  test('runs are listed, shown with their transcript, and cancelled', async () => {
    const agent = await api.agent();
    const run = await api.run(agent);
    expect(await api.done('GET', `/api/runs?agentId=${agent}`)).toMatchObject({ items: [{ id: run, number: 1 }] });
    expect(await api.done('GET', `/api/runs/${run}`)).toMatchObject({ agentId: agent, status: 'running' });
    expect(await api.done('GET', `/api/runs/${run}/transcript`)).toEqual({ items: [] });
    expect(await api.done('POST', `/api/runs/${run}/cancel`)).toHaveProperty('cancelRequestedAt');
    await api.store.transaction(({ db }) =>
      db.updateTable('runs').set({ status: 'completed' }).where('id', '=', run).execute(),
    );
    expect((await api.call('POST', `/api/runs/${run}/cancel`)).status).toBe(409);
    for (const part of ['', '/transcript', '/stream'])
      expect((await api.call('GET', `/api/runs/none${part}`)).status).toBe(404);
  });

  test('[G51] only admins create, list (without the secret), scope and revoke keys', async () => {
    const made = await api.call('POST', '/api/keys', { body: { name: 'reader', scopes: ['read'] } });
    expect(made.status).toBe(201);
    const { id, key } = made.body as { id: string; key: string };
    const listed = await api.call('GET', '/api/keys');
    expect(listed.body.items.find((one: { id: string }) => one.id === id)).toMatchObject({ scopes: ['read'] });
    expect(JSON.stringify(listed.body)).not.toContain(key);
    const writer = await api.keyWith('write');
    const body = { kind: 'human', displayName: 'Ada' };
    expect((await api.call('GET', '/api/entities', { secret: key })).status).toBe(200);
    expect((await api.call('POST', '/api/entities', { secret: key, body })).status).toBe(403);
    expect((await api.call('POST', '/api/entities', { secret: writer, body })).status).toBe(201);
    expect((await api.call('GET', '/api/keys', { secret: writer })).status).toBe(403);
    expect((await api.call('DELETE', `/api/keys/${id}`, { secret: writer })).status).toBe(403);
    expect(await api.done('DELETE', `/api/keys/${id}`)).toHaveProperty('revokedAt');
    expect((await api.call('GET', '/api/entities', { secret: key })).status).toBe(401);
  });

  test('[G51] a known key that another gateway has revoked writes nothing, and gets that error before any other', async () => {
    const { id, key } = await api.done<{ id: string; key: string }>('POST', '/api/keys', {
      name: 'writer',
      scopes: ['write'],
    });
    const post = (displayName: string) =>
      api.call('POST', '/api/entities', { secret: key, body: { kind: 'human', displayName } });
    expect((await post('Before')).status).toBe(201);
    await api.store.transaction((tx) => revokeKey(tx, id));
    expect((await post('After')).status).toBe(401);
    // The response does not say what is wrong with the body.
    expect((await post('')).status).toBe(401);
    const names = await api.store.db.selectFrom('entities').select('display_name').execute();
    expect(names.filter(({ display_name }) => ['Before', 'After'].includes(display_name))).toHaveLength(1);
  });

  test('[G51] a known key that was revoked, and the token of a deleted entity, have access to no operation', async () => {
    const { id: keyId, key } = await api.done<{ id: string; key: string }>('POST', '/api/keys', {
      name: 'admin',
      scopes: ['admin'],
    });
    const [ada, bot] = [await api.person(), await api.agent()];
    const token = await api.tokenOf(ada);
    const ids = [ada, bot, await api.space(ada), await api.run(bot), 'nothing'];
    for (const secret of [key, token]) expect((await api.call('GET', '/api/spaces', { secret })).status).toBe(200);
    await api.store.transaction(async (tx) => {
      await revokeKey(tx, keyId);
      await tx.db.updateTable('entities').set({ deleted_at: 1 }).where('id', '=', ada).execute();
    });
    const { paths } = await api.done<Document>('GET', '/openapi.json');
    const opened: string[] = [];
    const isGuarded = (path: string): boolean =>
      path.startsWith('/api/') && path !== MCP_CALLBACK && path !== SIGNED_ADDRESS;
    const bodies = [undefined, '{}', '{'];
    for (const [path, operations] of Object.entries(paths).filter(([path]) => isGuarded(path)))
      for (const method of Object.keys(operations)) {
        // Each id with one body, and each body with one id. Parts that an operation does not have are not varied.
        const tried = [
          ...(path.includes('{') ? ids : ids.slice(0, 1)).map((id) => [id, bodies[0]] as const),
          ...(method === 'get' ? [] : bodies.slice(1)).map((body) => [ids[0] ?? '', body] as const),
        ];
        for (const secret of [key, token])
          for (const [id, body] of tried) {
            const { status } = await api.call(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, id), { secret, body });
            if (status !== 401) opened.push(`${status} ${method} ${path} ${body}`);
          }
      }
    expect(opened).toEqual([]);
  });
});
