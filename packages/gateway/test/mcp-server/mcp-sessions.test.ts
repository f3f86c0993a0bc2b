import { Server } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
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

function sessionsWith(limits: { max?: number; silenceMs?: number }) {
  const sessions = new McpSessions(() => new Server({ name: 'test', version: '1' }, { capabilities: { tools: {} } }), {
    keepAliveMs: 0,
    ...limits,
  });
  const send = async (body: object, id?: string): Promise<Response> => {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(id === undefined ? {} : { 'mcp-session-id': id }),
    };
    const request = new Request('http://gateway/mcp', { method: 'POST', headers, body: JSON.stringify(body) });
    const response = await sessions.fetch(request, { authInfo: toAuthInfo('key'), parsedBody: body });
    await response.body?.cancel();
    return response;
  };
  return {
    open: async () => (await send(INITIALIZE)).headers.get('mcp-session-id') ?? '',
    ping: async (id: string) => (await send(PING, id)).status,
  };
}

test('[X19] beyond the limit, the session that was used least recently makes room, and its client is told 404', async () => {
  const { open, ping } = sessionsWith({ max: 2 });
  const [first, second] = [await open(), await open()];
  expect(await ping(first)).toBe(200);
  const third = await open();
  expect([await ping(first), await ping(second), await ping(third)]).toEqual([200, 404, 200]);
});

test('[X19] a session that was silent for too long is forgotten', async () => {
  const { open, ping } = sessionsWith({ silenceMs: 1 });
  const id = await open();
  await waitFor(async () => (await ping(id)) === 404);
});
