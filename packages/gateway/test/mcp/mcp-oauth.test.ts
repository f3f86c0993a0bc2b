import { waitFor } from '@lastcall/gateway/testing';
import { describe, expect, test } from 'vitest';
import type { McpAuth } from '../../src/config/mcp-auth.ts';
import { forEachTest } from '../support/for-all-tests.ts';
import { type Database, embedded, locationOf } from '../support/stores.ts';
import { type McpAgent, startMcpAgent } from './mcp-agent.ts';
import { type OAuthSite, startOAuthSite } from './oauth-site.ts';

const CLIENT = { id: 'the-client-of-the-test', secret: 'the-client-secret-of-the-test' };

function startWith(site: OAuthSite, auth: McpAuth, database?: Database): Promise<McpAgent> {
  const server = { name: 'guarded', transport: 'http' as const, url: `${site.mcp.url}/mcp`, auth };
  return startMcpAgent([{ ...server, headers: { 'x-own': '${env.OWN_HEADER}' } }], {
    ...(database === undefined ? {} : locationOf(database)),
    egress: { allow: [...site.hosts] },
    secrets: ['CLIENT_SECRET', 'THE_TOKEN', 'OWN_HEADER'],
    env: { CLIENT_SECRET: CLIENT.secret, THE_TOKEN: site.secrets[0] ?? 'no-token', OWN_HEADER: 'the-own-header' },
  });
}

const statusOf = async ({ gateway }: McpAgent, key?: string) =>
  (await gateway.api('/api/mcp/servers', undefined, { key })).items[0];

const callHello = (agent: McpAgent) => agent.run([{ toolName: 'guarded__hello' }]);

/** Waits until the gateway needs an authorization. */
const authorizationUrl = (agent: McpAgent): Promise<string> =>
  waitFor(async () => (await statusOf(agent))?.authorizationUrl, { timeoutMs: 60_000 });

const isUp = (agent: McpAgent): Promise<boolean> =>
  waitFor(async () => (await statusOf(agent))?.status === 'up', { timeoutMs: 60_000 });

/** Acts like a browser: opens the page, and follows the redirect to the gateway that serves that address now. */
async function authorize(url: string, { gateway }: McpAgent): Promise<{ callback: URL; response: Response }> {
  const page = await fetch(url, { redirect: 'manual' });
  const { pathname, search } = new URL(page.headers.get('location') ?? '');
  const callback = new URL(pathname + search, gateway.url);
  return { callback, response: await fetch(callback) };
}

const CODE: McpAuth = { type: 'authorization_code', scope: 'tools' };

describe.each(embedded)('OAuth of a server, on $kind', ({ create }) => {
  const database = forEachTest(create);

  test('[X14] after an authorization in a browser the tokens survive restarts and are renewed', async () => {
    await using site = await startOAuthSite();
    const first = await startWith(site, CODE, database);
    expect((await first.run()).offered[0]).not.toContain('guarded__hello');
    const url = await authorizationUrl(first);
    expect(await statusOf(first)).toMatchObject({ status: 'down', problem: expect.stringContaining('authorise') });
    expect(new URL(url).searchParams.get('code_challenge_method')).toBe('S256');
    await first.gateway.stop();

    // Reading the page may take long: no other attempt to connect starts another authorization.
    const second = await startWith(site, CODE, database);
    await second.run();
    expect(await authorizationUrl(second)).toBe(url);
    const { callback, response } = await authorize(url, second);
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('is authorised')]);
    await isUp(second);
    expect((await callHello(second)).settled[0]?.outcome).toMatchObject({
      status: 'ok',
      value: 'Hello, Bearer [redacted]',
    });
    // The redirect can be used only once.
    expect((await fetch(callback)).status).toBe(400);
    await second.gateway.stop();

    await using third = await startWith(site, CODE, database);
    await third.run();
    site.expire();
    expect((await callHello(third)).settled[0]?.outcome.status).toBe('ok');
    expect(site.granted).toEqual(['authorization_code', 'refresh_token']);
  });

  test('[X7] no token of an authorization server is readable in the database or in a response', async () => {
    await using site = await startOAuthSite();
    const agent = await startWith(site, CODE, database);
    await agent.run();
    await authorize(await authorizationUrl(agent), agent);
    await isUp(agent);
    const { runId } = await callHello(agent);
    const shown = await Promise.all(
      ['/api/mcp/servers', '/api/agents', `/api/runs/${runId}/transcript`].map((path) => agent.gateway.api(path)),
    );
    await agent.gateway.stop();
    const store = await database.open();
    const rows = await store.db.selectFrom('mcp_credentials').selectAll().execute();
    const entries = await store.db.selectFrom('transcript_entries').selectAll().execute();
    await store.close();
    expect(rows.map(({ kind }) => kind).sort()).toEqual(['client', 'tokens']);
    const text = JSON.stringify([rows, entries, shown]);
    expect(site.secrets.filter((secret) => text.includes(secret))).toEqual([]);
  });
});

test('if an authorization cannot be renewed, calls fail with an error that says what to do, until it is given again', async () => {
  await using site = await startOAuthSite();
  await using agent = await startWith(site, CODE);
  await agent.run();
  await authorize(await authorizationUrl(agent), agent);
  await isUp(agent);
  site.expire({ alsoRefreshTokens: true });
  const { settled } = await callHello(agent);
  expect(settled[0]?.outcome).toMatchObject({ status: 'error', text: expect.stringContaining('was not called') });
  expect(settled[0]?.outcome.text).toContain('open authorizationUrl of GET /api/mcp/servers');
  await authorize(await authorizationUrl(agent), agent);
  await isUp(agent);
  expect((await callHello(agent)).settled[0]?.outcome.status).toBe('ok');
});

test('an authorization with another state, another issuer or a refusal authorises nothing', async () => {
  await using site = await startOAuthSite();
  await using agent = await startWith(site, CODE);
  await agent.run();
  const callbackFor = async (): Promise<URL> => {
    const page = await fetch(await authorizationUrl(agent), { redirect: 'manual' });
    return new URL(page.headers.get('location') ?? '');
  };
  const forged = await callbackFor();
  forged.searchParams.set('state', 'another');
  expect((await fetch(forged)).status).toBe(400);
  const mixedUp = await callbackFor();
  mixedUp.searchParams.set('iss', 'https://evil.example');
  expect((await fetch(mixedUp)).status).toBe(400);
  const refused = await callbackFor();
  refused.searchParams.delete('code');
  refused.searchParams.set('error', 'access_denied');
  expect((await fetch(refused)).status).toBe(400);
  expect(site.granted).toEqual([]);
});

test('only admin keys see the page that authorises the gateway', async () => {
  await using site = await startOAuthSite();
  await using agent = await startWith(site, CODE);
  await agent.run();
  await authorizationUrl(agent);
  const { key } = await agent.gateway.api('/api/keys', { name: 'reader', scopes: ['read'] });
  const seen = await statusOf(agent, key);
  expect(seen).toMatchObject({ name: 'guarded', status: 'down' });
  expect(seen).not.toHaveProperty('authorizationUrl');
});

test('client credentials are sent only to the named issuer, and get new tokens when the old ones have expired', async () => {
  await using site = await startOAuthSite(CLIENT);
  const auth = { type: 'client_credentials' as const, clientId: CLIENT.id, clientSecret: '${env.CLIENT_SECRET}' };
  await using agent = await startWith(site, { ...auth, issuer: site.issuer.url });
  expect((await callHello(agent)).settled[0]?.outcome.status).toBe('ok');
  site.expire();
  expect((await callHello(agent)).settled[0]?.outcome.status).toBe('ok');
  expect(site.granted).toEqual(['client_credentials', 'client_credentials']);
  // Headers configured for the server are not sent to the authorization server.
  expect(site.mcp.requests.some(({ headers }) => headers['x-own'] === 'the-own-header')).toBe(true);
  expect(site.issuer.requests.filter(({ headers }) => headers['x-own'] !== undefined)).toEqual([]);

  await using stranger = await startOAuthSite(CLIENT);
  await using cautious = await startWith(stranger, { ...auth, issuer: site.issuer.url });
  await cautious.run();
  expect(await statusOf(cautious)).toMatchObject({ status: 'down' });
  expect(stranger.issuer.requests.filter(({ url }) => url === '/token')).toEqual([]);
});

test('a configured token is sent unchanged, and a refused one is reported', async () => {
  await using site = await startOAuthSite();
  await using agent = await startWith(site, { type: 'token', token: '${env.THE_TOKEN}' });
  await agent.run();
  await waitFor(async () => (await statusOf(agent))?.status === 'down');
  expect(site.mcp.requests.at(-1)?.headers.authorization).toBe('Bearer no-token');
});
