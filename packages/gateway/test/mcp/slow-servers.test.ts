import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startWebSite } from '../support/web-site.ts';
import { startMcpAgent, stdioServer } from './mcp-agent.ts';
import { callParts, connectTo } from './web-connection.ts';

test('[X15] the first run of an agent waits for a server that is slow to start, and has its tools', async () => {
  // Longer than a run waited before connectTimeout existed.
  const { server } = await stdioServer({ env: { START_AFTER_MS: '6000' }, connectTimeout: 120_000 });
  await using agent = await startMcpAgent([server]);
  const { settled } = await agent.run([{ toolName: 'local__echo', input: { text: 'hello' } }]);
  expect(settled[0]?.outcome).toMatchObject({ status: 'ok', text: 'hello' });
});

test('[X15] a call of a tool whose server is down names the server and the reason, and the model reads it', async () => {
  const { server } = await stdioServer();
  const away = { name: 'away', transport: 'http' as const, url: 'http://127.0.0.1:1/mcp' };
  await using agent = await startMcpAgent([server, away], { egress: { allow: ['127.0.0.1:1'] } });
  const { settled, requests, status } = await agent.run([
    { toolName: 'away__echo' },
    { toolName: 'local__nothing' },
    { toolName: 'local__echo', input: { text: 'hello' } },
  ]);
  expect(settled.map(({ outcome }) => outcome.code ?? outcome.text)).toEqual([
    'server_unavailable',
    'unknown_tool',
    'hello',
  ]);
  expect(settled[0]?.outcome.text).toMatch(
    /^The MCP server "away" is down, so "away__echo" was not called: .*ECONNREFUSED/,
  );
  expect(requests[1]).toContain('The MCP server \\"away\\" is down');
  expect(status).toBe('completed');
});

test('[X15] a server that hangs is down after its connectTimeout, and the run goes on without it', async () => {
  await using site = await startWebSite(() => {});
  const hanging = { name: 'web', transport: 'http' as const, url: site.url, connectTimeout: 300 };
  await using agent = await startMcpAgent([hanging], { egress: { allow: [site.host] } });
  const { settled, status } = await agent.run([{ toolName: 'web__echo' }]);
  expect(status).toBe('completed');
  expect(settled[0]?.outcome.text).toContain('"web" is down');
  expect(settled[0]?.outcome.text).toContain('did not answer within 300 ms');
});

test('[X15] a run waits for a server no longer than it may, and not at all once it is cancelled', async () => {
  await using site = await startWebSite(() => {});
  const connection = connectTo(site);
  await connection.ready({ isFresh: false, withinMs: 50 });
  expect(connection.status.status).toBe('connecting');
  const cancelled = new AbortController();
  const waiting = connection.ready({ isFresh: false, withinMs: 600_000, signal: cancelled.signal });
  await delay(1);
  cancelled.abort();
  await waiting;
  await connection.close();
});

test('[X15] a call over a connection that was closed fails at once, and was not sent', async () => {
  await using site = await startWebSite(() => {});
  const connection = connectTo(site);
  await connection.close();
  const called = connection.call({ name: 'echo', inputSchema: { type: 'object' } }, call);
  expect(await called).toEqual({ failure: { kind: 'not-sent', message: 'its connection was closed' } });
});

test('[X15] tools of a server that was lost a moment ago stay offered, and their calls wait until it is back', async () => {
  const { server } = await stdioServer();
  await using agent = await startMcpAgent([server]);
  const { settled, offered } = await agent.run(
    [{ toolName: 'local__die' }],
    [{ toolName: 'local__echo', input: { text: 'again' } }],
  );
  expect(offered[1]).toContain('local__echo');
  expect(settled.map(({ outcome }) => outcome.code ?? outcome.text)).toEqual(['unknown_outcome', 'again']);
});

const call = { ...callParts, mayRepeat: true };
