import { describe, expect, test } from 'vitest';
import { fixedTool } from '../chat/chat-api.ts';
import { type Api, openApi } from '../http/api.ts';
import { insertPendingCall } from '../runs/rows.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { databases } from '../support/stores.ts';

describe.each(databases)('projects on $kind', ({ create }) => {
  const database = forAllTests(create);
  const api = forAllTests(() => openApi(database));
  let count = 0;

  /** A new project, with calls that act in it. */
  async function project(): Promise<Project> {
    const id = `p${++count}`;
    await api.done('POST', '/api/projects', { id });
    const { key } = await api.done<{ key: string }>('POST', '/api/keys', { name: id, scopes: ['admin'], project: id });
    const call: Api['call'] = (method, path, sent) => api.call(method, path, { secret: key, ...sent });
    const make = async (path: string, body: object): Promise<string> => {
      const answer = await call('POST', path, { body });
      expect(answer.status, JSON.stringify(answer.body)).toBe(201);
      return answer.body.id;
    };
    return { id, key, call, make };
  }

  interface Project {
    readonly id: string;
    readonly key: string;
    readonly call: Api['call'];
    make(path: string, body: object): Promise<string>;
  }

  const idsIn = async ({ call }: Pick<Project, 'call'>, path: string): Promise<readonly string[]> =>
    (await call('GET', path)).body.items.map(({ id }: { id: string }) => id);

  test('[O1] each project lists its own agents, spaces, people, tools, keys and runs, and an operator lists all', async () => {
    const [one, two] = [await project(), await project()];
    for (const each of [one, two]) {
      const agent = await each.make('/api/agents', { name: 'Bot', instructions: 'Help.' });
      const ann = await each.make('/api/entities', { kind: 'human', displayName: 'Ann', externalId: 'ann' });
      const space = await each.make('/api/spaces', {
        name: 'Lobby',
        members: [{ entityId: ann }, { entityId: agent }],
      });
      const tool = await each.make('/api/tools', fixedTool('look', each.id));
      const run = await api.run(agent);
      expect(await idsIn(each, '/api/agents')).toEqual([agent]);
      expect((await idsIn(each, '/api/entities')).toSorted()).toEqual([agent, ann].toSorted());
      expect(await idsIn(each, '/api/spaces')).toEqual([space]);
      expect(await idsIn(each, '/api/tools?source=api')).toEqual([tool]);
      expect(await idsIn(each, '/api/runs')).toEqual([run]);
      expect((await each.call('GET', '/api/keys')).body.items).toMatchObject([{ name: each.id, project: each.id }]);
      expect((await each.call('GET', '/api/status')).body.counts).toEqual({
        agents: 1,
        deadEvents: 0,
        waitingCalls: 0,
      });
      expect((await each.call('GET', '/api/status')).body).not.toHaveProperty('store');
      expect((await each.call('GET', '/api/tools/look')).body).toMatchObject({ id: tool, project: each.id });
      expect((await each.call('GET', '/v1/models')).body.data).toMatchObject([{ id: 'Bot' }]);
      expect(await idsIn(api, '/api/agents?limit=200')).toContain(agent);
      expect((await api.call('GET', `/api/runs/${run}`)).status).toBe(200);
      expect((await each.call('GET', `/api/runs/${run}`)).status).toBe(200);
    }
    expect(await idsIn(one, '/api/projects')).toEqual([one.id]);
    expect(await idsIn(api, '/api/projects?limit=200')).toEqual(expect.arrayContaining(['default', one.id, two.id]));
  });

  test('[O1] a call, its job, an artifact and a queued run of another project are not found', async () => {
    const [one, two] = [await project(), await project()];
    const agent = await one.make('/api/agents', { name: 'Bot', instructions: 'Help.' });
    const callId = `call-${one.id}`;
    await api.store.transaction(async (tx) => {
      await insertPendingCall(tx, { id: callId, agent_id: agent });
      await tx.db
        .insertInto('artifacts')
        .values({
          id: `file-${one.id}`,
          agent_id: agent,
          run_id: 'r',
          space_id: null,
          media_type: 'image/png',
          bytes: 1,
          created_at: 1,
        })
        .execute();
    });
    const chat = await one.call('POST', '/contexts', { body: { agent } });
    for (const path of [`/api/calls/${callId}`, `/api/artifacts/file-${one.id}`, `/contexts/${chat.body.id}`])
      expect((await two.call('GET', path)).status, path).toBe(404);
    expect((await one.call('GET', `/api/calls/${callId}`)).status).toBe(200);
    expect((await one.call('GET', '/api/pending')).body.items).toMatchObject([{ callId }]);
    expect((await two.call('GET', '/api/pending')).body.items).toEqual([]);
    const answer = { callId, result: 'Mine.' };
    expect((await two.call('POST', '/api/runs/run/tool-results', { body: answer })).status).toBe(404);
  });

  test('[O1] no space, conversation or link has members of two projects, even for an operator', async () => {
    const [one, two] = [await project(), await project()];
    const ann = await one.make('/api/entities', { kind: 'human', displayName: 'Ann' });
    const space = await two.make('/api/spaces', { name: 'Lobby' });
    const agent = await two.make('/api/agents', { name: 'Bot', instructions: 'Help.' });
    for (const by of [two, api]) {
      const added = await by.call('POST', `/api/spaces/${space}/members`, { body: { entityId: ann } });
      expect(added).toMatchObject({ status: 404, body: { error: { message: `There is no entity "${ann}".` } } });
      expect((await by.call('POST', '/contexts', { body: { agent, entity_id: ann } })).status).toBe(404);
    }
    expect(
      (await one.call('POST', '/api/agents', { body: { name: 'B', instructions: 'H.', spaceIds: [space] } })).status,
    ).toBe(404);
    expect((await two.call('POST', '/api/links', { body: { entityId: ann } })).status).toBe(422);
    const { body } = await two.call('GET', `/api/spaces/${space}/members`);
    expect(body.items).toEqual([]);
  });

  test('[O1] a person whom a shared tool names does not see calls of another project', async () => {
    const [one, two] = [await project(), await project()];
    const boss = await one.make('/api/entities', { kind: 'human', displayName: 'Boss' });
    const [mine, theirs] = [
      await one.make('/api/agents', { name: 'A', instructions: 'Help.' }),
      await two.make('/api/agents', { name: 'B', instructions: 'Help.' }),
    ];
    const answerers = JSON.stringify({ entities: [boss] });
    await api.store.transaction(async (tx) => {
      await insertPendingCall(tx, { id: `mine-${one.id}`, agent_id: mine, answerers });
      await insertPendingCall(tx, { id: `theirs-${one.id}`, agent_id: theirs, answerers });
    });
    const secret = await api.tokenOf(boss);
    expect((await api.call('GET', '/api/pending', { secret })).body.items).toMatchObject([
      { callId: `mine-${one.id}` },
    ]);
    expect((await api.call('GET', `/api/calls/theirs-${one.id}`, { secret })).status).toBe(404);
    expect((await api.call('GET', `/api/calls/mine-${one.id}`, { secret })).status).toBe(200);
    const body = { callId: `theirs-${one.id}`, result: 1 };
    expect((await api.call('POST', '/api/runs/run/tool-results', { secret, body })).status).toBe(404);
  });

  test('[O1] an operator acts in one project with a header, and a key of a project only in that project', async () => {
    const [one, two] = [await project(), await project()];
    const headers = { 'lastcall-project': one.id };
    const made = await api.call('POST', '/api/agents', { headers, body: { name: 'Bot', instructions: 'Help.' } });
    expect(made.body).toMatchObject({ project: one.id });
    expect(await idsIn(one, '/api/agents')).toEqual([made.body.id]);
    expect((await api.call('GET', '/api/agents', { headers })).body.items).toMatchObject([{ id: made.body.id }]);
    expect((await two.call('GET', '/api/agents', { headers })).status).toBe(404);
    expect((await one.call('GET', '/api/agents', { headers })).status).toBe(200);
    expect((await api.call('GET', '/api/agents', { headers: { 'lastcall-project': 'none' } })).status).toBe(404);
    expect(
      (await api.call('GET', `/api/agents/${made.body.id}`, { headers: { 'lastcall-project': two.id } })).status,
    ).toBe(404);
  });

  test('[O1] a key belongs to the project of its creator, and without one a key that is not for an operator sees the project default', async () => {
    const one = await project();
    const created = await one.call('POST', '/api/keys', { body: { name: 'second', scopes: ['write'] } });
    const own: Api['call'] = (method, path) => api.call(method, path, { secret: created.body.key });
    const agent = await one.make('/api/agents', { name: 'Bot', instructions: 'Help.' });
    expect(await idsIn({ call: own }, '/api/agents')).toEqual([agent]);
    expect(
      (await one.call('POST', '/api/keys', { body: { name: 'k', scopes: ['read'], project: 'default' } })).status,
    ).toBe(404);
    const writer = await api.keyWith('write');
    expect((await api.call('GET', `/api/agents/${agent}`, { secret: writer })).status).toBe(404);
    expect((await api.call('POST', '/api/projects', { secret: one.key, body: {} })).status).toBe(403);
    expect((await one.call('PATCH', `/api/projects/${one.id}`, { body: { spend: null } })).status).toBe(403);
  });

  test('[O1] a project that still has agents, spaces, people, tools, evaluations or keys is not deleted', async () => {
    const one = await project();
    const { items: keys } = (await one.call('GET', '/api/keys')).body;
    const agent = await one.make('/api/agents', { name: 'Bot', instructions: 'Help.' });
    const space = await one.make('/api/spaces', { name: 'Lobby' });
    const ann = await one.make('/api/entities', { kind: 'human', displayName: 'Ann' });
    const tool = await one.make('/api/tools', fixedTool('look', one.id));
    const evaluation = (await one.call('POST', '/api/evaluations', { body: { name: 'e' } })).body.id;
    const contents = [
      ['agents', `/api/agents/${agent}`],
      ['spaces', `/api/spaces/${space}`],
      ['people or services', `/api/entities/${ann}`],
      ['tools', `/api/tools/${tool}`],
      ['evaluations', `/api/evaluations/${evaluation}`],
      ['keys', `/api/keys/${keys[0].id}`],
    ] as const;
    for (const [content, path] of contents) {
      const refused = await api.call('DELETE', `/api/projects/${one.id}`);
      expect([refused.status, refused.body.error?.message]).toEqual([
        409,
        expect.stringContaining(`still has ${content}:`),
      ]);
      expect((await api.call('DELETE', path)).status, path).toBeLessThan(300);
    }
    expect((await api.call('DELETE', `/api/projects/${one.id}`)).body).toEqual({ id: one.id });
  });

  test('[O1] a project is deleted once nothing is in it, and the project default never', async () => {
    const one = await project();
    const { id } = (
      await api.call('POST', '/api/spaces', { headers: { 'lastcall-project': one.id }, body: { name: 'Lobby' } })
    ).body;
    const refused = await api.call('DELETE', `/api/projects/${one.id}`);
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'project_in_use' } } });
    expect(refused.body.error.message).toContain('still has spaces: delete them first.');
    expect((await api.call('DELETE', `/api/spaces/${id}`)).status).toBe(202);
    const [key] = (await one.call('GET', '/api/keys')).body.items;
    await api.done('DELETE', `/api/keys/${key.id}`);
    expect((await api.call('DELETE', `/api/projects/${one.id}`)).body).toEqual({ id: one.id });
    expect((await api.call('GET', `/api/projects/${one.id}`)).status).toBe(404);
    expect((await api.call('DELETE', '/api/projects/default')).status).toBe(409);
    // Deleted rows in it still have its id.
    expect((await api.call('POST', '/api/projects', { body: { id: one.id } })).body.error.code).toBe('id_taken');
  });
});
