import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createEgress } from '../../src/ports/egress/egress.ts';
import { isNeverSent } from '../../src/ports/egress/never-sent.ts';
import { startWebSite, type WebSite } from '../support/web-site.ts';
import { startDnsServer } from './dns-server.ts';

// All of 127.0.0.0/8 is this machine: the first address is allowed and represents a public one, the second is an internal one.
const OPENED = '127.0.0.2';
const INNER = '127.0.0.3';

/** Answers once per connection, so that each request resolves the name again. */
const closing = (): Promise<WebSite> =>
  startWebSite((_request, response) => response.setHeader('connection', 'close').end('hello'));

async function tryAll(times: number, attempt: () => Promise<unknown>): Promise<string[]> {
  const results: string[] = [];
  for (let count = 0; count < times; count++)
    results.push(
      await attempt().then(
        () => 'answered',
        (error: { code?: string }) => error.code ?? 'failed',
      ),
    );
  return results;
}

test('[X8] a name whose address changes between two lookups is never connected to at a refused address', async () => {
  await using site = await closing();
  let count = 0;
  await using dns = await startDnsServer(() => [count++ % 2 === 0 ? OPENED : INNER]);
  const egress = createEgress({ allow: [`${OPENED}/32:${site.port}`], lookup: dns.lookup });
  const url = `http://rebinding.test:${site.port}/`;
  const results = await tryAll(20, async () => (await egress.request({ url })).body.resume());
  await egress.close();
  // One lookup for each request: the checked address is the one that was connected to.
  expect(dns.questions).toHaveLength(20);
  expect(results.filter((one) => one === 'answered')).toHaveLength(10);
  expect(results.filter((one) => one === 'egress_refused')).toHaveLength(10);
  expect(new Set(site.requests.map(({ address }) => address))).toEqual(new Set([OPENED]));
});

test('[X8] a name with one forbidden address among allowed ones is refused, in every order', async () => {
  await using site = await closing();
  const answers = [
    [OPENED, INNER],
    [INNER, OPENED],
    [OPENED, OPENED, INNER, OPENED],
  ];
  await using dns = await startDnsServer(() => answers[dns.questions.length - 1] ?? []);
  const egress = createEgress({ allow: [`${OPENED}/32:${site.port}`], lookup: dns.lookup });
  const results = await tryAll(3, () => egress.request({ url: `http://mixed.test:${site.port}/` }));
  await egress.close();
  expect(results).toEqual(['egress_refused', 'egress_refused', 'egress_refused']);
  expect(site.requests).toEqual([]);
});

test('[X8] an allowed name may resolve to any address, only on its port; the address itself stays forbidden', async () => {
  await using site = await closing();
  await using other = await closing();
  await using dns = await startDnsServer(() => [INNER]);
  const egress = createEgress({ allow: [`inner.test:${site.port}`], lookup: dns.lookup });
  const codes = await tryAll(1, async () =>
    (await egress.request({ url: `http://inner.test:${site.port}` })).body.resume(),
  );
  expect(codes).toEqual(['answered']);
  for (const url of [
    `http://inner.test:${other.port}`,
    `http://other.test:${site.port}`,
    `http://${INNER}:${site.port}`,
  ])
    expect(await tryAll(1, () => egress.request({ url }))).toEqual(['egress_refused']);
  await egress.close();
  expect(other.requests).toEqual([]);
});

test('[X8] removing a host drops its pooled connection, and keeps those of hosts that are still allowed', async () => {
  await using kept = await startWebSite();
  await using closed = await startWebSite();
  const egress = createEgress({ allow: [kept.host, closed.host] });
  const ask = async (site: WebSite): Promise<unknown> => (await (await egress.fetch(site.url)).json()) as unknown;
  await ask(kept);
  await ask(closed);
  expect([kept.sockets.size, closed.sockets.size]).toEqual([1, 1]);
  egress.setAllow([kept.host]);
  await expect.poll(() => closed.sockets.size).toBe(0);
  expect(kept.sockets.size).toBe(1);
  expect(await ask(kept)).toEqual({ ok: true });
  await expect(ask(closed)).rejects.toThrow('is refused: loopback');
  expect(kept.sockets.size).toBe(1);
  await egress.close();
});

test('[X8] removing a host aborts a response that is still being received from it', async () => {
  await using site = await startWebSite((_request, response) => response.write('beginning'));
  const egress = createEgress({ allow: [site.host] });
  const { body } = await egress.request({ url: site.url });
  const reading = body.toArray();
  await sleep(0);
  egress.setAllow([]);
  await expect(reading).rejects.toThrow();
  await egress.close();
});

test('[X8] an active request fails when its host is removed, and may have arrived', async () => {
  const arrived = Promise.withResolvers<void>();
  await using site = await startWebSite(() => arrived.resolve());
  const egress = createEgress({ allow: [site.host] });
  const failure = egress.request({ url: site.url }).catch((error: unknown) => error);
  await arrived.promise;
  egress.setAllow([]);
  expect(String(await failure)).toContain('no longer allowed');
  expect(isNeverSent(await failure)).toBe(false);
  await egress.close();
});
