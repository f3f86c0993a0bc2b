import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { createEgress, type Egress, type EgressRequest } from '../../src/ports/egress/egress.ts';
import { redirected, type SentRequest } from '../../src/ports/egress/redirect.ts';
import { startWebSite, type WebSite } from '../support/web-site.ts';

const to = (response: ServerResponse, status: number, location: string): unknown =>
  response.writeHead(status, { location }).end('elsewhere');

/** A site that redirects on paths such as `/308?http://…`, and answers on all others. */
const startRedirector = (): Promise<WebSite> =>
  startWebSite(({ url }, response) => {
    const [, status, location = ''] = /^\/(30\d)\?(.*)/.exec(url) ?? [];
    if (status !== undefined) to(response, Number(status), decodeURIComponent(location));
    else response.end('arrived');
  });

const via = (site: WebSite, status: number, location: string): string =>
  `${site.url}/${status}?${encodeURIComponent(location)}`;

async function open(): Promise<{ egress: Egress; site: WebSite; other: WebSite } & AsyncDisposable> {
  const site = await startRedirector();
  const other = await startRedirector();
  const egress = createEgress({ allow: [site.host, other.host] });
  return {
    egress,
    site,
    other,
    async [Symbol.asyncDispose]() {
      await egress.close();
      await site[Symbol.asyncDispose]();
      await other[Symbol.asyncDispose]();
    },
  };
}

const SECRET = 'sesame-open-1234';
const holdsSecret = (text: string): boolean => text.includes(SECRET);
const posting: Omit<EgressRequest, 'url'> = {
  method: 'POST',
  headers: {
    Authorization: `Bearer ${SECRET}`,
    'X-Api-Key': SECRET,
    Cookie: 'a=b',
    'Content-Type': 'text/plain',
    'Idempotency-Key': 'key-1',
    'User-Agent': `agent ${SECRET}`,
  },
  body: 'hello',
  holdsSecret,
};

describe('a redirect', () => {
  test.each([
    ['http://127.0.0.1:1', 'loopback'],
    ['http://[::ffff:7f00:1]:9/', 'loopback'],
    ['http://2852039166', 'linkLocal'],
    ['//0.0.0.0/', 'unspecified'],
    ['http://10.0.0.7/', 'private'],
    ['file:///etc/passwd', 'scheme'],
    ['http://user:pass@127.0.0.1/', 'credentials'],
    ['http://[', 'not a valid URL'],
  ])('[X8] to %s is refused', async (location, why) => {
    await using world = await open();
    await expect(world.egress.request({ url: via(world.site, 302, location) })).rejects.toThrow(why);
    expect(world.site.requests).toHaveLength(1);
  });

  test('[X8] is followed three times, and not a fourth time', async () => {
    await using world = await open();
    const { site, egress } = world;
    const nested = (times: number): string => (times === 0 ? `${site.url}/end` : via(site, 302, nested(times - 1)));
    expect(await egress.fetch(nested(3)).then((one) => one.text())).toBe('arrived');
    await expect(egress.request({ url: nested(4) })).rejects.toThrow('it redirects more than 3 times');
    expect(site.requests.filter(({ url }) => url === '/end')).toHaveLength(1);
  });

  test.each([
    [301, 'POST', 'GET', ''],
    [302, 'POST', 'GET', ''],
    [303, 'POST', 'GET', ''],
    [303, 'PUT', 'GET', ''],
    [303, 'HEAD', 'HEAD', ''],
    [301, 'PUT', 'PUT', 'hello'],
    [302, 'DELETE', 'DELETE', 'hello'],
    [307, 'POST', 'POST', 'hello'],
    [308, 'PATCH', 'PATCH', 'hello'],
  ])('[X8] %d of a %s is followed by a %s, as fetch does', async (status, method, next, body) => {
    await using world = await open();
    const given = method === 'HEAD' ? {} : { body: 'hello' };
    const response = await world.egress.request({
      ...posting,
      body: undefined,
      method,
      ...given,
      url: via(world.site, status, '/end'),
    });
    response.body.resume();
    expect(world.site.requests[1]).toMatchObject({ method: next, body, url: '/end' });
    // Within an origin the credentials are kept, and a request without its body has no content type.
    expect(world.site.requests[1]?.headers.authorization).toBe(`Bearer ${SECRET}`);
    expect(world.site.requests[1]?.headers['content-type']).toBe(
      body === '' && method !== 'HEAD' ? undefined : 'text/plain',
    );
  });

  test('[X8] to another origin does not send secrets, whatever the header is called', async () => {
    await using world = await open();
    const { body } = await world.egress.request({ ...posting, url: via(world.site, 307, `${world.other.url}/end`) });
    body.resume();
    const [seen] = world.other.requests;
    expect(seen?.body).toBe('hello');
    expect(JSON.stringify(seen)).not.toContain(SECRET);
    expect(Object.keys(seen?.headers ?? {}).sort()).toEqual([
      'accept-encoding',
      'connection',
      'content-length',
      'content-type',
      'host',
      'idempotency-key',
    ]);
  });

  test.each([307, 308])('[X8] %d that would send a body with a secret to another origin is refused', async (status) => {
    await using world = await open();
    const { egress, site, other } = world;
    const url = via(site, status, `${other.url}/end`);
    const body = `key=${SECRET}`;
    await expect(egress.request({ ...posting, url, body })).rejects.toThrow('with its secrets to another origin');
    // If it is not specified what is secret, every body counts as secret.
    await expect(egress.fetch(url, { method: 'POST', body: 'a' })).rejects.toThrow(
      'with its secrets to another origin',
    );
    expect(other.requests).toEqual([]);
    (await egress.request({ ...posting, url: via(site, status, '/end'), body })).body.resume();
    expect(site.requests.at(-1)?.body).toBe(body);
  });

  test('[X8] that carries a secret of the request to another origin in its URL is refused', async () => {
    await using world = await open();
    const url = via(world.site, 302, `${world.other.url}/?stolen=${SECRET}`);
    await expect(world.egress.request({ url, holdsSecret })).rejects.toThrow('a secret to another origin');
    expect(world.other.requests).toEqual([]);
  });

  test('[X8] from https to http is refused, also within a host', () => {
    const sent: SentRequest = { url: new URL('https://a.test/x'), method: 'GET', headers: {}, body: undefined };
    const follow = (location: string): SentRequest => redirected(sent, { status: 302, location });
    expect(() => follow('http://a.test/x')).toThrow('from https to http');
    expect(() => follow('http://b.test/x')).toThrow('from https to http');
    expect(follow('//b.test/x').url.href).toBe('https://b.test/x');
  });

  test('a 304, and a 302 without a location, are ordinary responses', async () => {
    await using site = await startWebSite(({ url }, response) => response.writeHead(Number(url.slice(1))).end());
    const egress = createEgress({ allow: [site.host] });
    expect((await egress.fetch(`${site.url}/304`)).status).toBe(304);
    expect((await egress.fetch(`${site.url}/302`)).status).toBe(302);
    await egress.close();
  });
});

describe('fetch through the guard', () => {
  test('is a standard fetch for libraries: streams, headers, methods and aborts', async () => {
    const closed = Promise.withResolvers<void>();
    await using site = await startWebSite(({ url, body, headers }, response) => {
      if (url === '/stream') {
        response.on('close', closed.resolve);
        return response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
      }
      response.writeHead(201, [
        ['set-cookie', 'a=1'],
        ['set-cookie', 'b=2'],
      ] as never);
      return response.end(JSON.stringify({ body, type: headers['content-type'] }));
    });
    const egress = createEgress({ allow: [site.host] });
    const posted = await egress.fetch(new URL(site.url), { method: 'POST', body: new URLSearchParams({ a: 'b c' }) });
    expect(posted.status).toBe(201);
    expect(posted.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(await posted.json()).toEqual({ body: 'a=b+c', type: 'application/x-www-form-urlencoded;charset=UTF-8' });
    const abort = new AbortController();
    const streamed = await egress.fetch(`${site.url}/stream`, { signal: abort.signal });
    const reader = streamed.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('data: 1\n\n');
    abort.abort();
    await expect(reader?.read()).rejects.toThrow();
    await closed.promise;
    await egress.close();
  });

  test('a caller can follow redirects itself, or forbid them', async () => {
    await using world = await open();
    const url = via(world.site, 302, '/end');
    expect((await world.egress.fetch(url, { redirect: 'manual' })).headers.get('location')).toBe('/end');
    await expect(world.egress.fetch(url, { redirect: 'error' })).rejects.toThrow('it redirects');
    expect(world.site.requests).toHaveLength(2);
  });

  test('a body that was compressed without a request for it is read, and an unknown encoding is an error', async () => {
    await using site = await startWebSite(({ url }, response) =>
      response.writeHead(200, { 'content-encoding': url.slice(1) }).end(gzipSync('hello')),
    );
    const egress = createEgress({ allow: [site.host] });
    expect(await (await egress.fetch(`${site.url}/gzip`)).text()).toBe('hello');
    await expect(egress.fetch(`${site.url}/odd`)).rejects.toThrow('content encoding');
    await expect((await egress.fetch(`${site.url}/br`)).text()).rejects.toThrow();
    await egress.close();
  });
});
