import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { takeRequest } from '../../src/domain/keys/key-rate.ts';
import { type Api, openApi } from '../http/api.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { databases } from '../support/stores.ts';

describe.each(databases)('rate limits of keys on $kind', ({ kind, create }) => {
  const database = forAllTests(create);
  const one = forAllTests(() => openApi(database));
  // SQLite has one gateway.
  const two = kind === 'postgres' ? forAllTests(() => openApi(database)) : one;

  const keyWith = async (requests: number, seconds: number): Promise<string> => {
    const body = { name: 'k', scopes: ['read'], rate: { requests, seconds } };
    return (await one.done<{ key: string }>('POST', '/api/keys', body)).key;
  };
  const ask = async (gateway: Api, secret: string) => await gateway.call('GET', '/api/projects', { secret });

  test('[O2] more requests than a key may send get 429 with Retry-After, and are allowed again after that time', async () => {
    const secret = await keyWith(3, 2);
    // On a busy machine a period may be over before the fourth request.
    let [allowed, refused] = [0, await ask(one, secret)];
    for (; refused.status === 200 && allowed < 1_000; allowed++) refused = await ask(one, secret);
    expect(allowed).toBeGreaterThanOrEqual(3);
    expect(refused).toMatchObject({
      status: 429,
      body: { error: { code: 'rate_limited', details: { requests: 3, seconds: 2 } } },
    });
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBeGreaterThanOrEqual(1);
    expect(seconds).toBeLessThanOrEqual(3);
    await sleep(seconds * 1_000);
    expect((await ask(one, secret)).status).toBe(200);
  });

  test('[O2] requests that fail count too, and those of other keys do not', async () => {
    const [secret, other] = [await keyWith(2, 60), await keyWith(2, 60)];
    for (let sent = 0; sent < 2; sent++)
      expect((await one.call('GET', '/api/agents/none', { secret })).status).toBe(404);
    expect((await ask(one, secret)).status).toBe(429);
    expect((await ask(one, other)).status).toBe(200);
  });

  test('[O2] what a gateway counted whose clock is far ahead does not hold up the others', async () => {
    const rate = { requests: 2, seconds: 2 };
    const { id } = await one.done<{ id: string }>('POST', '/api/keys', { name: 'k', scopes: ['read'], rate });
    const takenAt = async (at: number) =>
      await one.store.transaction((tx) => takeRequest({ db: tx.db, now: () => at }, id, rate));
    const now = Date.now();
    // An hour ahead.
    for (let sent = 0; sent < 2; sent++) expect(await takenAt(now + 3_600_000)).toBeUndefined();
    for (let sent = 0; sent < 2; sent++) expect(await takenAt(now)).toBeUndefined();
    expect(await takenAt(now)).toBeGreaterThan(0);
  });

  test('[O2] the limit is kept within 5 % for requests to two gateways at the same time', async () => {
    const rate = { requests: 20, seconds: 2 };
    const periodMs = rate.seconds * 1_000;
    const { id } = await one.done<{ id: string }>('POST', '/api/keys', { name: 'k', scopes: ['read'], rate });
    // The time advances with each read of the clock, so that the machine's speed does not matter.
    const begun = Math.ceil(Date.now() / periodMs) * periodMs;
    let now = begun;
    const tick = (): number => (now += 10);
    const allowed: number[] = [];
    const sender = async ({ store }: Api): Promise<void> => {
      while (now < begun + 3 * periodMs) {
        let at = 0;
        const clock = { now: () => (at = tick()) };
        const wait = await store.transaction((tx) => takeRequest({ db: tx.db, ...clock }, id, rate));
        if (wait === undefined) allowed.push(at);
      }
    };
    await Promise.all([one, two, one, two].map(sender));
    // In no period of this length are more allowed, and over all of them hardly fewer.
    const times = allowed.toSorted((a, b) => a - b);
    const most = Math.max(...times.map((start, index) => countUntil(times, index, start + periodMs)));
    expect(most).toBeLessThanOrEqual(rate.requests * 1.05);
    expect(times.length).toBeGreaterThanOrEqual(3 * rate.requests * 0.95 * (20 / 21));
  });
});

function countUntil(times: readonly number[], from: number, end: number): number {
  return times.slice(from).filter((time) => time < end).length;
}
