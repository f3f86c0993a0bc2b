import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { sweepAudit } from '../../src/domain/audit/sweep-audit.ts';
import { openApi, toRequest } from '../http/api.ts';
import { openJob } from '../jobs/job-desk.ts';
import { Browser } from '../sign-in/browser.ts';
import { forEachTest } from '../support/for-all-tests.ts';
import { databases } from '../support/stores.ts';

interface Entry {
  readonly id: string;
  readonly at: number;
  readonly project: string;
  readonly actor: Readonly<Record<string, unknown>>;
  readonly action: string;
  readonly subject?: { readonly kind: string; readonly id: string };
  readonly status: number;
}

const DAY_MS = 86_400_000;

describe.each(databases)('the audit on $kind', ({ create, kind }) => {
  const database = forEachTest(create);
  const api = forEachTest(() => openApi(database, { limits: { auditDays: 30 } }));

  const list = async (query = '', secret = api.key): Promise<readonly Entry[]> => {
    const { status, body } = await api.call('GET', `/api/audit${query}`, { secret });
    expect(status, JSON.stringify(body)).toBe(200);
    return body.items;
  };
  const keyOf = async (project: string): Promise<string> =>
    (await api.done<{ key: string }>('POST', '/api/keys', { name: project, scopes: ['admin'], project })).key;
  const browser = () => new Browser({ fetch: (request) => api.app.fetch(request), url: 'http://gateway' });
  const count = async (): Promise<number> => {
    const { rows } = await sql<{ n: number }>`select count(*) as n from audit`.execute(api.store.db);
    return Number(rows[0]?.n);
  };

  test('[O11] says who created, changed and deleted something, with which key and in which request', async () => {
    const created = await api.call('POST', '/api/agents', { body: { name: 'Bot', instructions: 'Help.' } });
    const { id } = created.body;
    await api.done('PATCH', `/api/agents/${id}`, { instructions: 'Help more.' });
    await api.done('DELETE', `/api/agents/${id}`);
    const entries = await list();
    const { items: keys } = await api.done<{ items: { id: string; name: string }[] }>('GET', '/api/keys');
    const common = {
      project: 'default',
      subject: { kind: 'agent', id },
      actor: { keyId: keys[0]?.id, keyName: 'test' },
    };
    expect(entries).toMatchObject([
      { ...common, action: 'delete_agents_id', status: 200 },
      { ...common, action: 'patch_agents_id', status: 200 },
      { ...common, action: 'post_agents', status: 201, requestId: created.headers.get('x-request-id') },
    ]);
  });

  test('[O11] says who answered a call, and distinguishes a late answer from one that counted', async () => {
    const [ada, agentId] = [await api.person(), await api.agent()];
    const space = await api.space(ada, agentId);
    const { runId, callId } = await openJob(api, agentId, { spaceId: space });
    const secret = await api.tokenOf(ada);
    const answer = (result: string) =>
      api.call('POST', `/api/runs/${runId}/tool-results`, { body: { callId, result }, secret });
    expect((await answer('Yes.')).status).toBe(200);
    expect((await answer('Yes.')).body.duplicate).toBe(true);
    expect((await answer('No.')).status).toBe(409);
    const told = { actor: { entityId: ada }, subject: { kind: 'call', id: callId }, project: 'default' };
    expect(await list('?action=post_runs_runId_tool_results')).toMatchObject([
      { ...told, status: 409 },
      { ...told, status: 200 },
    ]);
  });

  test('[O11] says who granted access: keys, tokens and links', async () => {
    const ada = await api.person();
    const key = await api.done<{ id: string }>('POST', '/api/keys', { name: 'k', scopes: ['read'] });
    await api.done('POST', `/api/entities/${ada}/token`, {});
    const link = await api.done<{ id: string }>('POST', '/api/links', { entityId: ada });
    await api.done('DELETE', `/api/keys/${key.id}`);
    expect((await list()).map(({ action, subject }) => [action, subject])).toEqual([
      ['delete_keys_id', { kind: 'key', id: key.id }],
      ['post_links', { kind: 'link', id: link.id }],
      ['post_entities_id_token', { kind: 'entity', id: ada }],
      ['post_keys', { kind: 'key', id: key.id }],
      ['post_entities', { kind: 'entity', id: ada }],
    ]);
  });

  test('[O11] says who signed in and out, with which key or as which person', async () => {
    const [byKey, byLink, ada] = [browser(), browser(), await api.person()];
    const session = (await byKey.call('POST', '/api/session', { key: api.key })).body.id;
    await byKey.call('DELETE', '/api/session');
    const { url } = await api.done<{ url: string }>('POST', '/api/links', { entityId: ada });
    await byLink.call('POST', '/api/session', { code: url.split('#in=')[1] });
    expect((await byLink.call('POST', '/api/session', { code: 'wrong' })).status).toBe(401);
    const { items: keys } = await api.done<{ items: { id: string }[] }>('GET', '/api/keys');
    const [linked, , out, signedIn] = await list();
    const subject = { kind: 'session', id: session };
    const actor = { keyId: keys[0]?.id, sessionId: session };
    expect(linked).toMatchObject({ action: 'post_session', actor: { entityId: ada }, status: 201 });
    expect(out).toMatchObject({ action: 'delete_session', subject, actor });
    expect(signedIn).toMatchObject({ action: 'post_session', subject, actor });
  });

  test('[O11] there is no entry without a change: refused and repeated requests and reads have none', async () => {
    const [ada, agent] = [await api.person(), await api.agent()];
    const space = await api.space(ada, agent);
    const before = await count();
    const statuses = [
      await api.call('GET', '/api/agents'),
      await api.call('GET', '/api/audit'),
      await api.call('POST', '/api/agents', { body: { name: '' } }),
      await api.call('DELETE', '/api/agents/nothing'),
      await api.call('DELETE', `/api/agents/${agent}`, { secret: await api.keyWith('read') }),
      await api.call('POST', '/api/spaces', { body: { name: 'x' }, secret: 'wrong' }),
      await api.call('POST', `/api/spaces/${space}/seen`, { body: { seq: 0, entityId: ada } }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 422, 404, 403, 401, 200]);
    expect(await count()).toBe(before);
    const message = { text: 'Hello.', entityId: ada, clientMessageId: 'once' };
    for (let time = 0; time < 3; time++) await api.done('POST', `/api/spaces/${space}/messages`, message);
    expect(await count()).toBe(before + 1);
  });

  test('[O11] there is no change without its entry: if the entry cannot be stored, the change is not either', async () => {
    const ada = await api.person();
    const space = await api.space(ada);
    await api.store.transaction((tx) => sql`alter table audit rename to audit_away`.execute(tx.db));
    const created = await api.call('POST', '/api/agents', { body: { name: 'Bot', instructions: 'Help.' } });
    const posted = await api.call('POST', `/api/spaces/${space}/messages`, { body: { text: 'Hi.', entityId: ada } });
    expect([created.status, posted.status]).toEqual([500, 500]);
    await api.store.transaction((tx) => sql`alter table audit_away rename to audit`.execute(tx.db));
    expect((await api.call('GET', '/api/agents')).body.items).toEqual([]);
    expect((await api.call('GET', `/api/spaces/${space}/messages`)).body.items).toEqual([]);
  });

  test('[O11] messages that are posted at the same time have an entry each, without their texts', async () => {
    const ada = await api.person();
    const spaces = await Promise.all(Array.from({ length: 20 }, () => api.space(ada)));
    const token = await api.tokenOf(ada);
    await Promise.all(
      spaces.flatMap((space) =>
        [undefined, token].map((secret) =>
          api.call('POST', `/api/spaces/${space}/messages`, {
            body: {
              text: 'A planted text.',
              metadata: { note: 'A planted note.' },
              ...(secret ? {} : { entityId: ada }),
            },
            ...(secret === undefined ? {} : { secret }),
          }),
        ),
      ),
    );
    const entries = await list('?action=post_spaces_id_messages&limit=200');
    expect(entries.map(({ subject }) => subject?.id).toSorted()).toEqual([...spaces, ...spaces].toSorted());
    expect(entries.filter(({ actor }) => actor.entityId === ada)).toHaveLength(20);
    const stored = await sql`select * from audit`.execute(api.store.db);
    expect(JSON.stringify(stored.rows)).not.toMatch(/planted|Lobby|Ada/);
  });

  test('[O11] the list is newest first, in pages, and filtered by actor, action, subject and time', async () => {
    const ids: string[] = [];
    for (let at = 0; at < 5; at++) ids.unshift(await api.person(`Person ${at}`));
    const first = await api.done<{ items: Entry[]; next: string }>('GET', '/api/audit?limit=2');
    const second = await api.done<{ items: Entry[] }>('GET', `/api/audit?limit=3&cursor=${first.next}`);
    const all = [...first.items, ...second.items];
    expect(all.map(({ subject }) => subject?.id)).toEqual(ids);
    expect(second).not.toHaveProperty('next');
    expect(await list(`?subject=${ids[2]}`)).toHaveLength(1);
    expect(await list('?kind=agent')).toEqual([]);
    expect(await list('?action=post_entities')).toHaveLength(5);
    expect(await list('?action=post_agents')).toEqual([]);
    const token = await api.tokenOf(ids[0] ?? '');
    const space = await api.space(ids[0] ?? '');
    await api.call('POST', `/api/spaces/${space}/messages`, { body: { text: 'Hi.' }, secret: token });
    expect(await list(`?actor=${ids[0]}`)).toMatchObject([{ action: 'post_spaces_id_messages' }]);
    const [newest] = await list();
    expect(await list(`?from=${newest?.at}`)).toContainEqual(newest);
    expect(await list(`?from=${Number(newest?.at) + 1}`)).toEqual([]);
    expect(await list(`?to=${newest?.at}`)).not.toContainEqual(newest);
  });

  test('[O11] everything can be exported as JSON lines', async () => {
    await api.store.transaction(async (tx) => {
      const rows = Array.from({ length: 450 }, (_, at) => ({
        ...{ id: `0000000${at % 10}-${at}`, at, project_id: 'default', action: 'post_agents', status: 201 },
      }));
      await tx.db
        .insertInto('audit')
        .values(rows as never)
        .execute();
    });
    const answer = await api.app.fetch(toRequest('GET', '/api/audit?format=jsonl&limit=1', { secret: api.key }));
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
    const lines = (await answer.text()).trimEnd().split('\n');
    expect(new Set(lines.map((line) => (JSON.parse(line) as Entry).id)).size).toBe(450);
    expect(lines).toHaveLength(450);
  });

  test('[O11] entries are kept for auditDays, and are deleted in small pieces', async () => {
    await api.person();
    const now = Date.now();
    expect(await sweepAudit(api.services, { now: now + 29 * DAY_MS })).toBe(0);
    const old = (at: number) =>
      `${(now - 31 * DAY_MS)
        .toString(16)
        .padStart(12, '0')
        .replace(/^(.{8})/, '$1-')}-${at}`;
    await api.store.transaction(async (tx) => {
      const rows = Array.from({ length: 1_200 }, (_, at) => ({
        ...{ id: old(at), at, project_id: 'default', action: 'post_agents', status: 201 },
      }));
      for (let at = 0; at < rows.length; at += 400)
        await tx.db
          .insertInto('audit')
          .values(rows.slice(at, at + 400) as never)
          .execute();
    });
    expect(await sweepAudit(api.services)).toBe(1_200);
    expect(await list()).toHaveLength(1);
    expect(await sweepAudit(api.services, { now: now + 31 * DAY_MS })).toBe(1);
  });

  test('[O11] it is append-only: no path changes or deletes entries', async () => {
    await api.person();
    const [entry] = await list();
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      expect((await api.app.fetch(new Request('http://gateway/api/audit', { method }))).status).toBe(405);
      expect((await api.app.fetch(new Request(`http://gateway/api/audit/${entry?.id}`, { method }))).status).toBe(404);
    }
    expect(await list()).toEqual([entry]);
  });

  test('[O11] a project sees changes in it, also those by operators, but not their keys', async () => {
    for (const id of ['acme', 'bolt']) await api.done('POST', '/api/projects', { id });
    const [acme, bolt] = [await keyOf('acme'), await keyOf('bolt')];
    const agent = (await api.call('POST', '/api/agents', { body: { name: 'A', instructions: 'A' }, secret: acme })).body
      .id;
    const space = (await api.call('POST', '/api/spaces', { body: { name: 'S' }, secret: acme })).body.id;
    const context = (await api.call('POST', '/contexts', { body: { agent }, secret: acme })).body.id;
    await api.done('PATCH', `/api/agents/${agent}`, { instructions: 'B' });
    await api.done('DELETE', `/contexts/${context}`);
    const entries = await list('', acme);
    expect(entries.map(({ action, actor }) => [action, actor.keyName ?? actor])).toEqual([
      ['delete_contexts_id', { operator: true }],
      ['patch_agents_id', { operator: true }],
      ['post_contexts', 'acme'],
      ['post_spaces', 'acme'],
      ['post_agents', 'acme'],
      ['post_keys', { operator: true }],
      ['post_projects', { operator: true }],
    ]);
    expect(new Set(entries.map(({ project }) => project))).toEqual(new Set(['acme']));
    const others = JSON.stringify(await list('', bolt));
    for (const id of [agent, space, context, 'acme']) expect(others).not.toContain(id);
    expect((await list(`?subject=${agent}`)).map(({ actor }) => actor.keyName)).toEqual(['test', 'acme']);
    if (kind === 'sqlite')
      expect((await api.call('GET', '/api/audit', { secret: await api.keyWith('write') })).status).toBe(403);
  });
});
