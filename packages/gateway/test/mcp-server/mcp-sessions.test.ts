import { setTimeout } from 'node:timers/promises';
import { Server } from '@modelcontextprotocol/server';
import { expect, test, vi } from 'vitest';
import { waitFor } from '../../src/testing/wait-for.ts';
import { toAuthInfo } from '../../src/transport/mcp-server/mcp-caller.ts';
import { McpSessions } from '../../src/transport/mcp-server/mcp-sessions.ts';

const clientInfo = { name: 'raw', version: '1' };
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo },
};
const PING = { jsonrpc: '2.0', id: 2, method: 'ping' };

const newServer = (): Server => new Server({ name: 'test', version: '1' }, { capabilities: { tools: {} } });

function sessionsWith(limits: { max?: number; silenceMs?: number }, createServer: () => Server = newServer) {
  const sessions = new McpSessions(createServer, { keepAliveMs: 0, ...limits });
  const send = async (keyId: string, body: object, id?: string): Promise<Response> => {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(id === undefined ? {} : { 'mcp-session-id': id }),
    };
    const request = new Request('http://gateway/mcp', { method: 'POST', headers, body: JSON.stringify(body) });
    const authInfo = toAuthInfo({ keyId, address: '', view: {}, requestId: 'r' });
    const response = await sessions.fetch(request, { authInfo, parsedBody: body });
    await response.body?.cancel();
    return response;
  };
  return {
    open: async (keyId = 'key') => (await send(keyId, INITIALIZE)).headers.get('mcp-session-id') ?? '',
    ping: async (id: string, keyId = 'key') => (await send(keyId, PING, id)).status,
  };
}

test('[X19] beyond the limit, the least recently used session is closed, and its client gets 404', async () => {
  const { open, ping } = sessionsWith({ max: 2 });
  const [first, second] = [await open('a'), await open('b')];
  expect(await ping(first, 'a')).toBe(200);
  const third = await open('c');
  expect([await ping(first, 'a'), await ping(second, 'b'), await ping(third, 'c')]).toEqual([200, 404, 200]);
});

test('[G65] a key that opens many sessions closes its own, and none of another key', async () => {
  const { open, ping } = sessionsWith({ max: 20 });
  const others = await open('other');
  const [first, second, third] = [await open('busy'), await open('busy'), await open('busy')];
  for (let count = 0; count < 30; count++) await open('busy');
  const last = await open('busy');
  expect(await ping(others, 'other')).toBe(200);
  expect(await ping(last, 'busy')).toBe(200);
  for (const id of [first, second, third]) expect(await ping(id, 'busy')).toBe(404);
});

test('[X19] a session that was silent for too long is forgotten', async () => {
  const { open, ping } = sessionsWith({ silenceMs: 1 });
  const id = await open();
  await waitFor(async () => (await ping(id)) === 404);
});

test('[X19] a session that is used stays, however old it is', async () => {
  let now = performance.now();
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  const later = async (ms: number): Promise<void> => {
    now += ms;
    // The cache reads the clock again after a millisecond.
    await setTimeout(2);
  };
  const { open, ping } = sessionsWith({ silenceMs: 100_000 });
  const id = await open();
  for (let count = 0; count < 3; count++) {
    await later(70_000);
    expect(await ping(id)).toBe(200);
  }
  await later(110_000);
  expect(await ping(id)).toBe(404);
  clock.mockRestore();
});

test('[X19] the server of a session that is closed is closed too, and so are its streams', async () => {
  let closed = 0;
  const createServer = (): Server => {
    const server = newServer();
    server.onclose = () => void closed++;
    return server;
  };
  const { open } = sessionsWith({ max: 1 }, createServer);
  await open('a');
  expect(closed).toBe(0);
  await open('b');
  await waitFor(() => closed === 1);
});
