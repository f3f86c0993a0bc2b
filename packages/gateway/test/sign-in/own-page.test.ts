import { describe, expect, test } from 'vitest';
import { listen } from '../../src/transport/http/server.ts';
import { openApi } from '../http/api.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { onSqlite } from '../support/stores.ts';
import { Browser } from './browser.ts';

/** A gateway on a separate port, and its key. */
async function openServer(): Promise<{ url: string; key: string; stop(): Promise<void> }> {
  const database = await onSqlite.create();
  const api = await openApi(database);
  const server = await listen(api.app, { port: 0, logger: api.services.logger });
  const stop = async (): Promise<void> => {
    api.app.stop();
    await server.close({ graceMs: 100 });
    await api.close();
    await database.remove();
  };
  return { url: server.url, key: api.key, stop };
}

describe('pages whose requests may use a session', () => {
  const gateway = forAllTests(openServer);
  const neighbour = forAllTests(openServer);

  const signIn = async ({ url, key }: { url: string; key: string }, cookies?: Map<string, string>) => {
    const page = new Browser({ fetch, url }, cookies);
    expect((await page.call('POST', '/api/session', { key })).status).toBe(201);
    return page;
  };
  const refused = { status: 403, body: { error: { code: 'cross_origin' } } };

  test('the cookie is not readable by scripts, is not sent to other sites, is only for /api, and has the port in its name', async () => {
    const page = new Browser({ fetch, url: gateway.url });
    const { headers } = await page.call('POST', '/api/session', { key: gateway.key });
    const { port } = new URL(gateway.url);
    expect(headers.getSetCookie()).toEqual([
      expect.stringMatching(
        new RegExp(
          `^lastcall_${port}=lc_se_[\\w-]{43}; Path=/api; Max-Age=60(4800|47\\d\\d); HttpOnly; SameSite=Strict$`,
        ),
      ),
    ]);
  });

  test('the cookie is only for https if the browser uses https', async () => {
    const { host } = new URL(gateway.url);
    const page = new Browser({ fetch, url: gateway.url });
    const answer = await page.call('POST', '/api/session', { key: gateway.key }, { origin: `https://${host}` });
    expect(answer.headers.getSetCookie()[0]).toMatch(/; Secure$/);
  });

  test('a page on another port of the same host sends the cookie, and is refused', async () => {
    const page = await signIn(gateway);
    const other = page.at(new URL(neighbour.url).origin);
    expect((await page.call('GET', '/api/keys')).status).toBe(200);
    expect(await other.call('GET', '/api/keys')).toMatchObject(refused);
    expect(await other.call('POST', '/api/keys', { name: 'stolen', scopes: ['admin'] })).toMatchObject(refused);
    expect(await other.call('DELETE', '/api/session')).toMatchObject(refused);
    expect((await page.call('GET', '/api/session')).status).toBe(200);
  });

  test('another site, a typed address, a browser without origin headers and a page without an origin are refused', async () => {
    const page = await signIn(gateway);
    const evil = page.at('https://evil.example');
    expect(await evil.call('POST', '/api/keys', { name: 'stolen', scopes: ['admin'] })).toMatchObject(refused);
    for (const headers of [{ 'sec-fetch-site': 'none' }, { 'sec-fetch-site': '' }, { 'sec-fetch-site': 'same-site' }])
      expect(await page.call('GET', '/api/keys', undefined, headers)).toMatchObject(refused);
    const port = Number(new URL(gateway.url).port);
    for (const origin of [
      'null',
      '',
      `http://127.0.0.1:${port + 1}`,
      `http://localhost:${port}`,
      'http://evil.example',
    ])
      for (const method of ['GET', 'POST'] as const)
        expect(
          await page.call(method, '/api/keys', method === 'GET' ? undefined : { name: 'x', scopes: ['read'] }, {
            origin,
          }),
          `${method} ${origin}`,
        ).toMatchObject(refused);
    const cookie = [...page.cookies].map((pair) => pair.join('=')).join('; ');
    const bare = await fetch(`${gateway.url}/api/keys`, { headers: { cookie } });
    expect({ status: bare.status, body: await bare.json() }).toMatchObject(refused);
    const noOrigin = await fetch(`${gateway.url}/api/links`, {
      method: 'POST',
      headers: { cookie, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
      body: '{}',
    });
    expect(noOrigin.status).toBe(403);
  });

  test('no other page can sign a browser in, which would then act for another person', async () => {
    for (const page of [new URL(neighbour.url).origin, 'https://evil.example'])
      expect(
        await new Browser({ fetch, url: gateway.url, page }).call('POST', '/api/session', { key: gateway.key }),
      ).toMatchObject(refused);
  });

  test('a browser is signed in to two gateways on one host, and can sign out of only one of them', async () => {
    const cookies = new Map<string, string>();
    const [one, two] = [await signIn(gateway, cookies), await signIn(neighbour, cookies)];
    expect(cookies.size).toBe(2);
    await one.call('DELETE', '/api/session');
    expect((await one.call('GET', '/api/session')).status).toBe(401);
    expect((await two.call('GET', '/api/session')).status).toBe(200);
  });
});

describe('a gateway behind a proxy', () => {
  const database = forAllTests(onSqlite.create);
  const publicUrl = 'https://agents.example.com';
  const api = forAllTests(() => openApi(database, { publicUrl }));

  test('accepts its public address as its own origin, and creates links with it', async () => {
    const { body } = await api.call('POST', '/api/links', { body: {} });
    expect(body.url).toMatch(/^https:\/\/agents\.example\.com\/#in=[\w-]{43}$/);
    // The proxy uses an internal host name; the browser uses the public one.
    const page = new Browser({ fetch: (request) => api.app.fetch(request), url: 'http://gateway' });
    const headers = { origin: publicUrl, 'sec-fetch-site': 'same-origin' };
    const code = body.url.split('#in=')[1];
    const signedIn = await page.call('POST', '/api/session', { code }, headers);
    expect(signedIn.headers.get('set-cookie')).toMatch(/; Secure$/);
    expect((await page.call('GET', '/api/session', undefined, headers)).status).toBe(200);
  });
});
