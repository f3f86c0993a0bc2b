import { mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { listen } from '../../src/transport/http/server.ts';
import { openApi } from '../http/api.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { onSqlite } from '../support/stores.ts';

const PAGE = '<!doctype html><title>Lastcall</title>';
const SCRIPT = 'export const answer = 42;\n'.repeat(100);
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/** A folder as Vite builds it, next to a private file. */
async function build(): Promise<{ root: string; directory: string; remove(): Promise<void> }> {
  const root = await mkdtemp(join(tmpdir(), 'lastcall-studio-'));
  const directory = join(root, 'dist');
  const files: Record<string, string | Uint8Array> = {
    '../secret.txt': 'SECRET',
    'index.html': PAGE,
    'index.html.br': brotliCompressSync(PAGE),
    'index.html.gz': gzipSync(PAGE),
    'favicon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
    'assets/index-B7cWQ2.js': SCRIPT,
    'assets/index-B7cWQ2.js.br': brotliCompressSync(SCRIPT),
    'assets/index-B7cWQ2.js.gz': gzipSync(SCRIPT),
    'assets/index-x1.css': 'body { margin: 0 }',
    'assets/odd.unknown': '?',
  };
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), content);
  }
  await symlink(join(root, 'secret.txt'), join(directory, 'assets/linked.txt'));
  await symlink(root, join(directory, 'assets/up'));
  return { root, directory, remove: () => rm(root, { recursive: true, force: true }) };
}

describe('the files of the studio', () => {
  const built = forAllTests(build);
  const database = forAllTests(onSqlite.create);
  const api = forAllTests(() => openApi(database, { studio: { directory: built.directory } }));
  const server = forAllTests(async () => {
    const { url, close } = await listen(api.app, { port: 0, logger: api.services.logger });
    return { url, stop: () => close({ graceMs: 100 }) };
  });

  const get = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> =>
    fetch(`${server.url}${path}`, { method, headers: { 'accept-encoding': 'identity', ...headers } });
  const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

  test('[G55] the page has its own policy, is not cached, and is neither sniffed nor framed', async () => {
    const page = await get('/', html);
    expect(page.status).toBe(200);
    expect(await page.text()).toBe(PAGE);
    expect(Object.fromEntries(page.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': POLICY,
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
    });
    const etag = page.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
      const again = await get('/', { ...html, 'if-none-match': known });
      expect([again.status, await again.text()]).toEqual([304, '']);
    }
    expect((await get('/', { 'if-none-match': '"other"' })).status).toBe(200);
    const head = await get('/', html, 'HEAD');
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  test('[G55] a HEAD of an answer in JSON has the headers of the GET, and no body', async () => {
    const key = { authorization: `Bearer ${api.key}` };
    const [full, head] = [await get('/api/agents', key), await get('/api/agents', key, 'HEAD')];
    expect([head.status, await head.text()]).toEqual([200, '']);
    for (const name of ['content-security-policy', 'x-content-type-options', 'cache-control', 'content-type'])
      expect([name, head.headers.get(name)]).toEqual([name, full.headers.get(name)]);
    expect(head.headers.get('x-content-type-options')).toBe('nosniff');
    expect(head.headers.get('x-request-id')).toMatch(/^[\w-]{36}$/);
  });

  test('paths of the studio return the page to a browser, and 404 in JSON to other clients', async () => {
    const paths = [
      '/spaces',
      '/spaces/s1',
      '/inbox',
      '/runs',
      '/runs/r1/compare/r2',
      '/calls/c1',
      '/agents/a1',
      '/tools',
    ];
    for (const path of [...paths, '/tools/book_hotel?try', '/settings', '/signin', '/agents']) {
      const page = await get(path, html);
      expect([path, page.status, await page.text()]).toEqual([path, 200, PAGE]);
      const json = await get(path, { accept: 'application/json' });
      expect([path, json.status]).toEqual([path, 404]);
      expect(await json.json()).toMatchObject({ error: { code: 'not_found' } });
      expect((await get(path, html, 'POST')).status).toBe(404);
    }
    for (const path of ['/index.html', '/spacesx', '/inbox/1', '/other', '/api/other', '/assets', '/assets/', '/v1/x'])
      expect([path, (await get(path, html)).status]).toEqual([path, 404]);
  });

  test('files with a hash in their names are cached for ever, the others are requested again, each with its type', async () => {
    const script = await get('/assets/index-B7cWQ2.js');
    expect(await script.text()).toBe(SCRIPT);
    expect(Object.fromEntries(script.headers)).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
      'x-content-type-options': 'nosniff',
    });
    const typeOf = async (path: string) => (await get(path)).headers.get('content-type');
    expect(await typeOf('/assets/index-x1.css')).toBe('text/css; charset=utf-8');
    expect(await typeOf('/favicon.svg')).toBe('image/svg+xml');
    expect(await typeOf('/assets/odd.unknown')).toBe('application/octet-stream');
    expect((await get('/favicon.svg')).headers.get('cache-control')).toBe('no-cache');
  });

  test('files that the build compressed are sent compressed to clients that accept it, brotli first', async () => {
    const encodingFor = async (accepted: string, path = '/assets/index-B7cWQ2.js') => {
      const response = await get(path, { 'accept-encoding': accepted });
      return [response.headers.get('content-encoding'), (await response.text()) === (path === '/' ? PAGE : SCRIPT)];
    };
    expect(await encodingFor('gzip, deflate, br')).toEqual(['br', true]);
    expect(await encodingFor('gzip')).toEqual(['gzip', true]);
    expect(await encodingFor('br;q=0, gzip;q=0.5')).toEqual(['gzip', true]);
    expect(await encodingFor('identity')).toEqual([null, true]);
    expect(await encodingFor('br', '/')).toEqual(['br', true]);
    const tags = await Promise.all(
      ['br', 'gzip', 'identity'].map(async (one) => (await get('/', { 'accept-encoding': one })).headers.get('etag')),
    );
    expect(new Set(tags).size).toBe(3);
    expect((await get('/assets/index-B7cWQ2.js.br')).status).toBe(404);
  });

  test('no path leads out of the folder, however it is written', async () => {
    const paths = [
      '/../secret.txt',
      '/assets/../../secret.txt',
      '/..%2fsecret.txt',
      '/assets/..%2f..%2fsecret.txt',
      '/assets/%2e%2e/%2e%2e/secret.txt',
      '/%2e%2e%2fsecret.txt',
      '/..%252fsecret.txt',
      '/..\\secret.txt',
      '/..%5csecret.txt',
      '/assets/..;/secret.txt',
      '/assets/linked.txt',
      '/assets/up/secret.txt',
      '/assets/index-B7cWQ2.js%00.txt',
      '/%00',
      '//secret.txt',
      '/file:///etc/passwd',
      `${built.root}/secret.txt`,
      '/assets/index-B7cWQ2.js/',
      '/%c0%ae%c0%ae/secret.txt',
      '/__proto__',
      '/constructor',
    ];
    for (const path of paths) {
      const answer = await raw(server.url, path);
      expect([path, answer.split('\r\n')[0]]).toEqual([path, expect.stringMatching(/^HTTP\/1\.1 40[04] /)]);
      expect(answer).not.toContain('SECRET');
    }
  });

  test('a new build is served without a restart', async () => {
    const fresh = await build();
    const other = await openApi(database, { studio: { directory: fresh.directory }, services: { store: api.store } });
    const textOf = async (path: string) => await (await other.app.fetch(new Request(`http://gateway${path}`))).text();
    expect(await textOf('/')).toBe(PAGE);
    await writeFile(join(fresh.directory, 'assets/index-new.js'), 'new');
    await rm(join(fresh.directory, 'assets/index-B7cWQ2.js'));
    await writeFile(join(fresh.directory, 'index.html'), 'new page');
    await utimes(join(fresh.directory, 'index.html'), new Date(), new Date(Date.now() + 5_000));
    expect(await textOf('/')).toBe('new page');
    expect(await textOf('/assets/index-new.js')).toBe('new');
    expect(await textOf('/assets/index-B7cWQ2.js')).toContain('not_found');
    other.app.stop();
    await fresh.remove();
  });

  test('without a build the page says how to make one, and without a studio it is a 404 like any other', async () => {
    const services = { store: api.store };
    const empty = await openApi(database, { studio: { directory: join(built.root, 'nothing') }, services });
    const answer = await empty.call('GET', '/', { headers: html });
    expect(answer.status).toBe(404);
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(answer.body).toContain('npm run build -w packages/studio');
    expect(await empty.call('GET', '/')).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
    const none = await openApi(database, { studio: false, services });
    expect(await none.call('GET', '/', { headers: html })).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found' } },
    });
    for (const { app } of [empty, none]) app.stop();
  });
});

/** The response to a path that no client library would send. */
async function raw(url: string, path: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.end(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/html\r\nConnection: close\r\n\r\n`);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
