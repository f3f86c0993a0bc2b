import { describe, expect, test } from 'vitest';
import { listen } from '../../src/transport/http/server.ts';
import { openApi } from '../http/api.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { onSqlite } from '../support/stores.ts';
import { signInFrom } from './sign-in-from.ts';

describe('attempts to sign in', () => {
  const database = forAllTests(onSqlite.create);
  const api = forAllTests(() => openApi(database));

  const tryFrom = (address: string, body: object): Promise<Response> => signInFrom(api, address, body);

  test('[G53] the eleventh wrong code or key from an address is answered 429, also of a hundred at once', async () => {
    const all = await Promise.all(
      Array.from({ length: 100 }, (_, at) =>
        tryFrom('10.1.1.1', at % 2 === 0 ? { code: `c${at}` } : { key: `k${at}` }),
      ),
    );
    expect(all.filter(({ status }) => status === 401)).toHaveLength(10);
    const refused = all.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(90);
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect((await tryFrom('10.1.1.2', { key: 'wrong' })).status).toBe(401);
  });

  test('[G66] wrong sign-ins do not block valid ones: a valid key and a valid link work from the same address', async () => {
    for (let at = 0; at < 12; at++) await tryFrom('10.2.2.2', { key: 'wrong' });
    expect((await tryFrom('10.2.2.2', { key: 'wrong' })).status).toBe(429);
    expect((await tryFrom('10.2.2.2', { key: api.key })).status).toBe(201);
    const { url } = await api.done<{ url: string }>('POST', '/api/links', {});
    expect((await tryFrom('10.2.2.2', { code: url.split('#in=')[1] })).status).toBe(201);
    expect((await tryFrom('10.2.2.2', { key: 'wrong' })).status).toBe(429);
  });

  test('[G66] addresses of IPv6 are counted by their first 64 bits, and IPv4 inside IPv6 as IPv4', async () => {
    const count = async (addresses: readonly string[]): Promise<number[]> => {
      const answers: number[] = [];
      for (const address of addresses) answers.push((await tryFrom(address, { key: 'wrong' })).status);
      return answers;
    };
    const many = Array.from({ length: 11 }, (_, at) => `2001:db8:1:2:${at}::${at}`);
    expect(await count(many)).toEqual([...Array(10).fill(401), 429]);
    expect(await count(['2001:db8:1:3::1'])).toEqual([401]);
    expect(await count([...Array(10).fill('::ffff:10.3.3.3'), '10.3.3.3'])).toEqual([...Array(10).fill(401), 429]);
  });
});

describe('wrong secrets behind a socket', () => {
  const database = forAllTests(onSqlite.create);
  const common = forAllTests(async () => {
    const api = await openApi(database);
    return { services: api.services, close: () => api.close() };
  });
  const start = async (trustedProxies: readonly string[]) => {
    const api = await openApi(database, { services: common.services, trustedProxies });
    const { url, close } = await listen(api.app, { port: 0, logger: api.services.logger });
    const ask = async (secret: string, headers: Record<string, string> = {}): Promise<Response> => {
      const authorization = secret === '' ? {} : { authorization: `Bearer ${secret}` };
      return await fetch(`${url}/api/spaces`, { headers: { ...authorization, ...headers } });
    };
    return { api, ask, stop: () => close({ graceMs: 100 }) };
  };
  const direct = forAllTests(() => start([]));
  const proxied = forAllTests(() => start(['127.0.0.0/8']));

  test('[G66] the eleventh wrong key or token from an address is answered 429, and a valid key still works there', async () => {
    const { api, ask } = direct;
    const statuses: number[] = [];
    for (let at = 0; at < 10; at++) statuses.push((await ask(at % 2 === 0 ? `lc_sk_${at}` : `a.b.${at}`)).status);
    expect(statuses).toEqual(Array(10).fill(401));
    const refused = await ask('lc_sk_another');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ error: { code: 'too_many_attempts' } });
    expect((await ask(api.key)).status).toBe(200);
    // A key that was never used before, so that it is not cached.
    expect((await ask(await api.keyWith('read'))).status).toBe(200);
    const ada = await api.person();
    expect((await ask(await api.tokenOf(ada))).status).toBe(200);
    // Without a secret nothing was guessed.
    expect((await ask('')).status).toBe(401);
    // An address header of a client that is not a trusted proxy is ignored.
    expect((await ask('lc_sk_another', { 'x-forwarded-for': '192.0.2.1' })).status).toBe(429);
  });

  test('[G66] behind a trusted proxy the address of the client is counted, and not that of the proxy', async () => {
    const { ask } = proxied;
    const from = (address: string): Record<string, string> => ({ 'x-forwarded-for': address });
    for (let at = 0; at < 10; at++) expect((await ask(`lc_sk_${at}`, from('192.0.2.1'))).status).toBe(401);
    expect((await ask('lc_sk_x', from('192.0.2.1'))).status).toBe(429);
    // The client's own value is to the left of the one that the proxy added.
    expect((await ask('lc_sk_x', from('192.0.2.77, 192.0.2.1'))).status).toBe(429);
    expect((await ask('lc_sk_x', from('192.0.2.2'))).status).toBe(401);
    expect((await ask('lc_sk_x', { forwarded: 'for=192.0.2.1;proto=https' })).status).toBe(429);
  });
});
