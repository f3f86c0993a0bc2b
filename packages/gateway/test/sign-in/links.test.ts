import { afterEach, describe, expect, test } from 'vitest';
import { openApi } from '../http/api.ts';
import { type EventStream, readEventStream } from '../streams/event-stream.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { databases } from '../support/stores.ts';
import { Browser } from './browser.ts';

interface Link {
  readonly id: string;
  readonly url: string;
}

const opened: EventStream[] = [];
afterEach(async () => {
  for (const stream of opened.splice(0)) await stream.close().catch(() => {});
});

describe.each(databases)('[G66] links and sessions that a session made, on $kind', ({ create }) => {
  const database = forAllTests(create);
  const api = forAllTests(() => openApi(database, { heartbeatMs: 1_000_000 }));

  const codeOf = ({ url }: Link): string => url.split('#in=')[1] ?? '';
  const browser = (): Browser => new Browser({ fetch: (request) => api.app.fetch(request), url: 'http://gateway' });
  const signIn = async (link: Link): Promise<Browser> => {
    const page = browser();
    expect((await page.call('POST', '/api/session', { code: codeOf(link) })).status).toBe(201);
    return page;
  };
  /** Signs in with a link that no key made, like the one that a start prints: only sessions can end its sessions. */
  const operator = async (): Promise<Browser> => {
    const link = await api.done<Link>('POST', '/api/links', { scopes: ['admin'] });
    await api.store.transaction(({ db }) =>
      db.updateTable('sign_in_links').set({ key_id: null }).where('id', '=', link.id).execute(),
    );
    return await signIn(link);
  };
  const idOf = async (page: Browser): Promise<string> => (await page.call('GET', '/api/session')).body.id;
  const makeLink = async (page: Browser, body: object = {}): Promise<Link> =>
    (await page.call('POST', '/api/links', body)).body;
  const listed = async (path: string): Promise<{ id: string; makerSessionId?: string }[]> =>
    (await api.call('GET', path)).body.items;

  test('[G66] when a session is revoked, its links and all sessions made with them end, with their streams', async () => {
    const ada = await api.person();
    const space = await api.space(ada);
    const maker = await operator();
    const child = await signIn(await makeLink(maker));
    const grandchild = await signIn(await makeLink(child, { entityId: ada }));
    const links = [await makeLink(maker), await makeLink(child)];
    const bystander = await operator();
    const stream = readEventStream(await grandchild.send('GET', `/api/spaces/${space}/stream`));
    opened.push(stream);
    expect(stream.status).toBe(200);
    const makerId = await idOf(maker);
    expect((await child.call('GET', '/api/session')).body.makerSessionId).toBe(makerId);
    await api.done('DELETE', `/api/sessions/${makerId}`);
    await api.done('POST', `/api/spaces/${space}/messages`, { entityId: ada, text: 'after' });
    expect(await stream.rest()).toEqual([]);
    for (const page of [maker, child, grandchild]) expect((await page.call('GET', '/api/session')).status).toBe(401);
    for (const link of links)
      expect(await browser().call('POST', '/api/session', { code: codeOf(link) })).toMatchObject({
        status: 401,
        body: { error: { code: 'link_not_valid', details: { reason: 'revoked' } } },
      });
    expect((await bystander.call('GET', '/api/session')).status).toBe(200);
  });

  test('[G66] links and sessions made by a session end when it signs out, and at the latest when it expires', async () => {
    const maker = await operator();
    const child = await signIn(await makeLink(maker));
    const [own, made] = [await maker.call('GET', '/api/session'), await child.call('GET', '/api/session')];
    expect(made.body.expiresAt).toBeLessThanOrEqual(own.body.expiresAt);
    const link = await makeLink(maker);
    await maker.call('DELETE', '/api/session');
    expect((await child.call('GET', '/api/session')).status).toBe(401);
    expect((await browser().call('POST', '/api/session', { code: codeOf(link) })).status).toBe(401);
  });

  test('[G66] a link that is used while its maker is revoked leaves no session behind', async () => {
    for (let round = 0; round < 5; round++) {
      const maker = await operator();
      const [id, link, page] = [await idOf(maker), await makeLink(maker), browser()];
      const [, signedIn] = await Promise.all([
        api.done('DELETE', `/api/sessions/${id}`),
        page.call('POST', '/api/session', { code: codeOf(link) }),
      ]);
      expect([201, 401]).toContain(signedIn.status);
      expect((await page.call('GET', '/api/session')).status).toBe(401);
    }
  });

  test('[G66] links are listed without their codes until they are used, and one that is revoked does not work', async () => {
    const ada = await api.person();
    const [used, revoked] = [
      await api.done<Link>('POST', '/api/links', {}),
      await api.done<Link>('POST', '/api/links', { entityId: ada, scopes: ['read'] }),
    ];
    const items = await listed('/api/links');
    expect(items.find(({ id }) => id === revoked.id)).toEqual({
      id: revoked.id,
      scopes: ['read'],
      entity: { id: ada, displayName: 'Ada' },
      keyId: expect.any(String),
      createdAt: expect.any(Number),
      expiresAt: expect.any(Number),
    });
    expect(JSON.stringify(items)).not.toContain(codeOf(revoked));
    await signIn(used);
    expect((await api.call('DELETE', `/api/links/${used.id}`)).status).toBe(404);
    expect(await api.done('DELETE', `/api/links/${revoked.id}`)).toMatchObject({ id: revoked.id });
    expect((await api.call('DELETE', `/api/links/${revoked.id}`)).status).toBe(404);
    const left = (await listed('/api/links')).map(({ id }) => id);
    for (const { id } of [used, revoked]) expect(left).not.toContain(id);
    expect(await browser().call('POST', '/api/session', { code: codeOf(revoked) })).toMatchObject({
      status: 401,
      body: { error: { details: { reason: 'revoked' } } },
    });
  });

  test('[G66] of a link that is revoked and used at the same moment one wins', async () => {
    const link = await api.done<Link>('POST', '/api/links', {});
    const [revoked, signedIn] = await Promise.all([
      api.call('DELETE', `/api/links/${link.id}`),
      browser().call('POST', '/api/session', { code: codeOf(link) }),
    ]);
    expect([
      [200, 401],
      [404, 201],
    ]).toContainEqual([revoked.status, signedIn.status]);
  });
});
