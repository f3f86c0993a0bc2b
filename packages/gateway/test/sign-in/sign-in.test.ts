import { describe, expect, test } from 'vitest';
import { hashKey } from '../../src/domain/keys/api-key.ts';
import type { Scope } from '../../src/domain/keys/scope.ts';
import { openApi } from '../http/api.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { databases } from '../support/stores.ts';
import { Browser } from './browser.ts';
import { signInFrom } from './sign-in-from.ts';

describe.each(databases)('signing in on $kind', ({ create }) => {
  const database = forAllTests(create);
  const api = forAllTests(() => openApi(database));
  const browser = (): Browser => new Browser({ fetch: (request) => api.app.fetch(request), url: 'http://gateway' });

  const linkCode = async (body: object = {}, secret = api.key): Promise<string> => {
    const { body: made } = await api.call('POST', '/api/links', { body, secret });
    return new URL(made.url).hash.replace('#in=', '');
  };
  const signIn = async (body: object = {}): Promise<Browser> => {
    const signedIn = browser();
    expect((await signedIn.call('POST', '/api/session', { code: await linkCode(body) })).status).toBe(201);
    return signedIn;
  };
  const signInWithKey = async (key: string): Promise<Browser> => {
    const signedIn = browser();
    expect((await signedIn.call('POST', '/api/session', { key })).status).toBe(201);
    return signedIn;
  };

  test('a link has its code in the fragment, expires after 15 minutes, and signs a browser in', async () => {
    const ada = await api.person();
    const { status, body } = await api.call('POST', '/api/links', { body: { entityId: ada, scopes: ['read'] } });
    expect(status).toBe(201);
    expect(body.url).toMatch(/^http:\/\/gateway\/#in=[\w-]{43}$/);
    expect(body.expiresAt - Date.now()).toBeGreaterThan(890_000);
    expect(body.expiresAt - Date.now()).toBeLessThanOrEqual(900_000 + 5_000);
    const page = browser();
    expect((await page.call('GET', '/api/session')).status).toBe(401);
    const code = body.url.split('#in=')[1];
    const signedIn = await page.call('POST', '/api/session', { code });
    expect(signedIn).toMatchObject({
      status: 201,
      body: { scopes: ['read'], entity: { id: ada, displayName: 'Ada' }, expiresAt: expect.any(Number) },
    });
    expect(await page.call('GET', '/api/session')).toMatchObject({ status: 200, body: signedIn.body });
  });

  test('[G63] neither the code of a link nor the cookie of a session is in the database or in a log', async () => {
    const code = await linkCode();
    const page = browser();
    await page.call('POST', '/api/session', { code: 'wrong' });
    await page.call('POST', '/api/session', { code });
    const secret = page.cookies.get('lastcall_80') ?? '';
    const stored = JSON.stringify([
      await api.store.db.selectFrom('sessions').selectAll().execute(),
      await api.store.db.selectFrom('sign_in_links').selectAll().execute(),
      api.logs,
    ]);
    expect(secret).toMatch(/^lc_se_[\w-]{43}$/);
    expect(stored).toContain(hashKey(secret));
    for (const hidden of [code, secret]) expect(stored).not.toContain(hidden);
  });

  test('a code is refused the second time, and exactly one of twenty at once wins', async () => {
    const code = await linkCode();
    // Each from a different address, so that the limit of attempts does not apply.
    const send = (at: number) => signInFrom(api, `10.0.0.${at}`, { code });
    const all = await Promise.all(Array.from({ length: 20 }, (_, at) => send(at)));
    expect(all.map(({ status }) => status).toSorted()).toEqual([201, ...Array(19).fill(401)]);
    const late = await send(20);
    expect(late.status).toBe(401);
    expect(await late.json()).toMatchObject({ error: { code: 'link_not_valid', details: { reason: 'used' } } });
  });

  test('a code that has expired, or whose key was revoked, is refused', async () => {
    const expired = await linkCode();
    await api.store.transaction((tx) =>
      tx.db.updateTable('sign_in_links').set({ expires_at: tx.now() }).where('hash', '=', hashKey(expired)).execute(),
    );
    const { id, key } = await api.done<{ id: string; key: string }>('POST', '/api/keys', {
      name: 'maker',
      scopes: ['write'],
    });
    const orphan = await linkCode({}, key);
    await api.done('DELETE', `/api/keys/${id}`);
    // Another link is created meanwhile, which deletes old ones that are not needed any more.
    await linkCode();
    for (const [code, reason] of [
      [expired, 'expired'],
      [orphan, 'revoked'],
      [`${expired}x`, 'unknown'],
    ] as const)
      expect(await browser().call('POST', '/api/session', { code })).toMatchObject({
        status: 401,
        body: { error: { code: 'link_not_valid', details: { reason } } },
      });
  });

  test('a link that was used or has expired is forgotten a week after its time', async () => {
    const [used, expired, kept] = [await linkCode(), await linkCode(), await linkCode()];
    await browser().call('POST', '/api/session', { code: used });
    const weekMs = 7 * 86_400_000;
    await api.store.transaction(async (tx) => {
      const expire = (code: string, at: number) =>
        tx.db.updateTable('sign_in_links').set({ expires_at: at }).where('hash', '=', hashKey(code)).execute();
      for (const code of [used, expired]) await expire(code, tx.now() - weekMs);
      await expire(kept, tx.now() - weekMs + 60_000);
    });
    await linkCode();
    const hashes = (await api.store.db.selectFrom('sign_in_links').select('hash').execute()).map(({ hash }) => hash);
    expect([used, expired, kept].map((code) => hashes.includes(hashKey(code)))).toEqual([false, false, true]);
  });

  test('[G51] a link gives at most the scopes of its maker, and none by default to a person', async () => {
    const ada = await api.person();
    const writer = await api.keyWith('write');
    const refused = await api.call('POST', '/api/links', { body: { scopes: ['admin'] }, secret: writer });
    expect(refused).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } });
    expect((await api.call('POST', '/api/links', { body: {}, secret: await api.keyWith('read') })).status).toBe(403);
    expect((await api.call('POST', '/api/links', { body: {}, secret: await api.tokenOf(ada) })).status).toBe(403);
    expect((await api.call('POST', '/api/links', { body: { scopes: [] } })).status).toBe(422);
    const scopesAfter = async (body: object): Promise<Scope[]> => {
      const page = browser();
      return (await page.call('POST', '/api/session', { code: await linkCode(body, writer) })).body.scopes;
    };
    expect(await scopesAfter({})).toEqual(['write']);
    expect(await scopesAfter({ scopes: ['read'] })).toEqual(['read']);
    expect(await scopesAfter({ entityId: ada })).toEqual([]);
    expect(await scopesAfter({ entityId: ada, scopes: ['write'] })).toEqual(['write']);
  });

  test('links and sessions are for people: an agent, an unknown and a deleted entity are refused', async () => {
    const bot = await api.agent();
    for (const entityId of [bot, 'nobody'])
      expect(await api.call('POST', '/api/links', { body: { entityId } })).toMatchObject({ status: 422 });
  });

  test('a session that may only read can sign out', async () => {
    const page = await signIn({ scopes: ['read'] });
    expect((await page.call('DELETE', '/api/session')).status).toBe(200);
    expect((await page.call('GET', '/api/session')).status).toBe(401);
    expect(page.cookies.size).toBe(0);
  });

  test('an operator who acts for a person gets for one space the same as in the list of spaces', async () => {
    const [ada, ben] = [await api.person(), await api.person('Ben')];
    const space = await api.space(ada, ben);
    await api.done('POST', `/api/spaces/${space}/messages`, { entityId: ben, text: 'Hello.' });
    const page = await signIn({ entityId: ada, scopes: ['write'] });
    const one = (await page.call('GET', `/api/spaces/${space}`)).body;
    expect(one).toMatchObject({ id: space, unread: 1, waiting: 0 });
    const { items } = (await page.call('GET', `/api/spaces?entityId=${ada}`)).body;
    expect(items).toEqual([one]);
  });

  test('[G51] a key that may only read can sign in, but not as a person', async () => {
    const ada = await api.person();
    const reader = await api.keyWith('read');
    const page = browser();
    expect((await page.call('POST', '/api/session', { key: reader, entityId: ada })).status).toBe(403);
    expect((await page.call('POST', '/api/session', { key: reader })).body).toMatchObject({ scopes: ['read'] });
    expect((await page.call('PATCH', '/api/session', { entityId: ada })).status).toBe(403);
    expect((await page.call('POST', '/api/spaces', { name: 'No' })).status).toBe(403);
    expect((await page.call('GET', '/api/spaces')).status).toBe(200);
  });

  test('a session with only a person may do what that person may, and nothing else', async () => {
    const [ada, ben] = [await api.person(), await api.person('Ben')];
    const [own, other] = [await api.space(ada), await api.space(ben)];
    const page = await signIn({ entityId: ada });
    expect((await page.call('GET', '/api/spaces')).body.items).toMatchObject([{ id: own }]);
    expect((await page.call('GET', `/api/spaces/${other}/messages`)).status).toBe(404);
    expect((await page.call('GET', '/api/runs')).status).toBe(403);
    expect((await page.call('PATCH', '/api/session', { entityId: ben })).status).toBe(403);
    const posted = await page.call('POST', `/api/spaces/${own}/messages`, { text: 'Hello.' });
    expect(posted).toMatchObject({ status: 201, body: { entityId: ada } });
    const forBen = await page.call('POST', `/api/spaces/${own}/messages`, { text: 'Hello.', entityId: ben });
    expect(forBen.status).toBe(422);
  });

  test('a session with scopes and a person may do what either may, and posts as the person', async () => {
    const [ada, ben] = [await api.person(), await api.person('Ben')];
    const [own, other] = [await api.space(ada), await api.space(ben)];
    const page = await signIn({ entityId: ada, scopes: ['admin'] });
    expect((await page.call('GET', `/api/spaces/${other}/messages`)).status).toBe(200);
    expect((await page.call('GET', '/api/keys')).status).toBe(200);
    expect((await page.call('POST', `/api/spaces/${own}/messages`, { text: 'Mine.' })).body.entityId).toBe(ada);
    const mine = await page.call('GET', `/api/spaces?entityId=${ada}`);
    expect(mine.body.items).toMatchObject([{ id: own }]);
    // The person that an operator acts for can be changed and removed.
    expect(await page.call('PATCH', '/api/session', { entityId: ben })).toMatchObject({
      status: 200,
      body: { entity: { id: ben, displayName: 'Ben' } },
    });
    expect((await page.call('POST', `/api/spaces/${other}/messages`, { text: 'Hi.' })).body.entityId).toBe(ben);
    expect((await page.call('PATCH', '/api/session', { entityId: null })).body.entity).toBeUndefined();
    expect((await page.call('POST', `/api/spaces/${other}/messages`, { text: 'Hi.' })).status).toBe(422);
  });

  test('a session that may read and has a person posts as that person, and only where the person may', async () => {
    const [ada, ben] = [await api.person(), await api.person('Ben')];
    const [own, other] = [await api.space(ada), await api.space(ben)];
    const page = await signIn({ entityId: ada, scopes: ['read'] });
    expect((await page.call('GET', `/api/spaces/${other}/messages`)).status).toBe(200);
    expect((await page.call('POST', `/api/spaces/${own}/messages`, { text: 'Mine.' })).body.entityId).toBe(ada);
    expect((await page.call('POST', `/api/spaces/${other}/messages`, { text: 'No.' })).status).toBe(404);
    const asBen = { text: 'No.', entityId: ben };
    expect((await page.call('POST', `/api/spaces/${own}/messages`, asBen)).status).toBe(422);
    expect((await page.call('POST', '/api/spaces', { name: 'No' })).status).toBe(403);
  });

  test('sessions are listed without their secrets, and end when they are revoked, when they sign out, and with their key', async () => {
    const { id: keyId, key } = await api.done<{ id: string; key: string }>('POST', '/api/keys', {
      name: 'door',
      scopes: ['read'],
    });
    const [revoked, out, byKey] = [await signIn(), await signIn(), await signInWithKey(key)];
    const idOf = async (page: Browser): Promise<string> => (await page.call('GET', '/api/session')).body.id;
    const ids = [await idOf(revoked), await idOf(out), await idOf(byKey)];
    const listed = async (): Promise<string[]> =>
      (await api.call('GET', '/api/sessions')).body.items.map(({ id }: { id: string }) => id);
    expect(await listed()).toEqual(expect.arrayContaining(ids));
    expect((await api.call('GET', '/api/sessions', { secret: await api.keyWith('write') })).status).toBe(403);
    await api.done('DELETE', `/api/sessions/${ids[0]}`);
    expect((await api.call('DELETE', `/api/sessions/${ids[0]}`)).status).toBe(404);
    const cookie = out.cookies.get('lastcall_80') ?? '';
    expect((await out.call('DELETE', '/api/session')).headers.get('set-cookie')).toMatch(/^lastcall_80=; .*Max-Age=0/);
    expect(out.cookies.size).toBe(0);
    out.cookies.set('lastcall_80', cookie);
    await api.done('DELETE', `/api/keys/${keyId}`);
    for (const page of [revoked, out, byKey])
      expect(await page.call('GET', '/api/session')).toMatchObject({
        status: 401,
        body: { error: { code: 'unauthorized' } },
      });
    expect(await listed()).not.toEqual(expect.arrayContaining([expect.stringMatching(ids.join('|'))]));
  });

  test('an expired session is not valid any more', async () => {
    const page = await signIn();
    const { id } = (await page.call('GET', '/api/session')).body;
    await api.store.transaction((tx) =>
      tx.db.updateTable('sessions').set({ expires_at: tx.now() }).where('id', '=', id).execute(),
    );
    expect((await page.call('GET', '/api/session')).status).toBe(401);
    // A browser with the cookie of an ended session can sign in again.
    expect((await page.call('POST', '/api/session', { code: await linkCode() })).status).toBe(201);
    expect((await page.call('GET', '/api/session')).status).toBe(200);
  });

  test('an Authorization header takes precedence over the cookie, and of two cookies with one name neither counts', async () => {
    const page = await signIn();
    const reader = await api.keyWith('read');
    expect((await page.call('GET', '/api/keys')).status).toBe(200);
    expect((await page.call('GET', '/api/keys', undefined, { authorization: `Bearer ${reader}` })).status).toBe(403);
    expect((await page.call('GET', '/api/session', undefined, { authorization: `Bearer ${reader}` })).body).toEqual({
      error: { code: 'no_session', message: expect.any(String) },
    });
    const twice = `lastcall_80=${page.cookies.get('lastcall_80')}; lastcall_80=lc_se_tossed`;
    expect((await page.call('GET', '/api/session', undefined, { cookie: twice })).status).toBe(401);
  });
});
