import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startTestGateway } from '@lastcall/gateway/testing';
import { expect, test } from 'vitest';
import { Api } from '../src/api.ts';
import { makeFolder } from './support/folder.ts';
import { inProcess } from './support/in-process.ts';

const SUCH = 'must be an address such as http://127.0.0.1:4100.\n';

test.each([
  { args: ['--url', 'localhost:4177'], env: {}, source: '--url' },
  { args: ['--url', '127.0.0.1:4100'], env: {}, source: '--url' },
  { args: ['--url', ''], env: {}, source: '--url' },
  { args: ['--url', 'ftp://127.0.0.1'], env: {}, source: '--url' },
  { args: ['--url', 'http://ada:secret@127.0.0.1:4100'], env: {}, source: '--url' },
  { args: [], env: { LASTCALL_URL: 'localhost:4177' }, source: 'LASTCALL_URL' },
  { args: [], env: { HOST: 'my computer' }, source: 'HOST and PORT together' },
])('[S12] a command with $args and $env exits with 2 and names $source, which is no address', async (given) => {
  await using folder = await makeFolder();
  const options = { folder: folder.path, env: given.env };
  const refused = { code: 2, out: '', err: `${given.source} ${SUCH}` };
  expect(await inProcess(['keys', 'list', ...given.args], options)).toEqual(refused);
});

test.each(['LASTCALL_SECRET_KEY', 'LASTCALL_PROJECT'])(
  '[S12] %s with characters that cannot be sent exits with 2 and is named',
  async (name) => {
    await using folder = await makeFolder();
    const { code, err } = await inProcess(['keys', 'list'], { folder: folder.path, env: { [name]: '“copied”' } });
    expect([code, err]).toEqual([
      2,
      `${name} has characters that it cannot have. Copy it again, without quotation marks.\n`,
    ]);
  },
);

test('[S12] doctor exits with 2 if --url or LASTCALL_URL is no address', async () => {
  await using folder = await makeFolder();
  const doctor = (args: readonly string[], env: Record<string, string> = {}) =>
    inProcess(['doctor', ...args], { folder: folder.path, env });
  expect(await doctor(['--url', 'localhost:4177'])).toEqual({ code: 2, out: '', err: `--url ${SUCH}` });
  expect(await doctor([], { LASTCALL_URL: 'localhost' })).toEqual({ code: 2, out: '', err: `LASTCALL_URL ${SUCH}` });
});

test.each([
  ['keys', 'list'],
  ['keys', 'revoke', 'x'],
  ['projects', 'create', 'acme'],
  ['audit'],
  ['search', 'x'],
  ['usage', '--by', 'agent'],
  ['export', 'x'],
  ['replay', 'x'],
])('[S12] another program that answers 200 is named by "%s %s", and nothing is read from it', async (...args) => {
  const other = createServer((_request, response) => response.end('{"ok":true}')).listen(0, '127.0.0.1');
  await once(other, 'listening');
  const LASTCALL_URL = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  await using folder = await makeFolder();
  const err = `Another program answers at ${LASTCALL_URL}, and not a gateway. Name the gateway's address with --url or LASTCALL_URL.\n`;
  expect(await inProcess(args, { folder: folder.path, env: { LASTCALL_URL } })).toEqual({ code: 3, out: '', err });
  const { out } = await inProcess(['doctor'], { folder: folder.path, env: { LASTCALL_URL } });
  expect(out).toContain(`FAIL  another program answers at ${LASTCALL_URL}`);
  other.close();
});

/** Expects a command to work with a gateway through this proxy. `passOn` asks the gateway, and resolves with the text of its answer. */
async function expectUseBehind(
  proxy: (request: IncomingMessage, response: ServerResponse, passOn: () => Promise<string>) => void,
): Promise<void> {
  await using gateway = await startTestGateway({});
  const server = createServer((request, response) =>
    proxy(request, response, async () => {
      const headers = { authorization: request.headers.authorization ?? '' };
      return await (await fetch(`${gateway.url}${request.url}`, { headers })).text();
    }),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const LASTCALL_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await using folder = await makeFolder();
  const env = { LASTCALL_URL, LASTCALL_SECRET_KEY: gateway.secretKey };
  const { code, out } = await inProcess(['projects', 'list'], { folder: folder.path, env });
  expect([code, out]).toEqual([0, expect.stringContaining('default')]);
  server.close();
}

test('[S12] a gateway is recognised behind a proxy that removes the headers of answers', async () => {
  await expectUseBehind((_request, response, passOn) => void passOn().then((text) => response.end(text)));
});

test.each([
  { proxy: 'refuses', answer: (response: ServerResponse) => response.writeHead(403).end('<h1>Forbidden</h1>') },
  { proxy: 'drops the connection of', answer: (response: ServerResponse) => response.destroy() },
])('[S12] a proxy that has its own request ids and $proxy what is not below /api is used', async ({ answer }) => {
  await expectUseBehind((request, response, passOn) => {
    if (request.url?.startsWith('/api/'))
      void passOn().then((text) => response.setHeader('x-request-id', 'c8f1').end(text));
    else answer(response);
  });
});

test('[S12] an empty LASTCALL_URL counts as not set, and an address may have a path and a slash at its end', () => {
  const url = (env: Record<string, string>, given?: string): string => new Api({ url: given, env }).url;
  expect(url({ LASTCALL_URL: '', PORT: '4177' })).toBe('http://127.0.0.1:4177');
  expect(url({ LASTCALL_URL: 'https://example.com/agents/' })).toBe('https://example.com/agents');
  expect(url({ LASTCALL_URL: 'localhost' }, 'http://[::1]:4100/')).toBe('http://[::1]:4100');
});

test('[S12] doctor looks for the gateway at the port of the configuration if PORT is empty', async () => {
  await using folder = await makeFolder({ 'lastcall.config.js': 'module.exports = { port: 1 };' });
  const { out } = await inProcess(['doctor'], { folder: folder.path, env: { PORT: '' } });
  expect(out).toContain('no gateway answers at http://127.0.0.1:1:');
});
