import { expect, test } from 'vitest';
import type { WebSite } from '../support/web-site.ts';
import { startMcpAgent } from './mcp-agent.ts';
import { startToolServer } from './tool-server.ts';
import { callParts, connectTo } from './web-connection.ts';

test('[X15] a call that the server refuses leaves the connection, and the calls of others, as they are', async () => {
  const [started, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using site = await startToolServer({
    pages: [['pay', 'limited']],
    async call(name) {
      if (name === 'limited') return 429;
      started.resolve();
      await finish.promise;
      return { content: [{ type: 'text', text: 'paid' }] };
    },
  });
  const connection = connectTo(site);
  await connection.ready({ isFresh: false, withinMs: 60_000 });
  const paying = connection.call({ name: 'pay', inputSchema: { type: 'object' } }, call);
  await started.promise;
  const refused = await connection.call({ name: 'limited', inputSchema: { type: 'object' } }, call);
  finish.resolve();
  expect(await paying).toMatchObject({ result: { content: [{ text: 'paid' }] } });
  expect(refused).toMatchObject({ failure: { kind: 'refused', message: expect.stringContaining('HTTP 429') } });
  expect(requestsOf(site, 'initialize')).toBe(1);
  expect(requestsOf(site, 'tools/call')).toBe(2);
  await connection.close();
});

test('[X15] the model reads that the server refused the call, and with which status', async () => {
  await using site = await startToolServer({ pages: [['limited']], call: () => 429 });
  await using agent = await startMcpAgent([{ name: 'web', transport: 'http', url: site.url }], {
    egress: { allow: [site.host] },
  });
  const { settled } = await agent.run([{ toolName: 'web__limited' }]);
  expect(settled[0]?.outcome).toMatchObject({ status: 'error', code: 'execution' });
  expect(settled[0]?.outcome.text).toMatch(
    /^The MCP server "web" refused the call, so "limited" did not run: HTTP 429: .*Not now\./,
  );
});

test('[X14] a server over HTTP is told that its session is over when the gateway no longer uses it', async () => {
  await using site = await startToolServer({ pages: [['pay']] });
  const connection = connectTo(site);
  await connection.ready({ isFresh: false, withinMs: 60_000 });
  expect(site.sessions.size).toBe(1);
  await connection.close();
  expect(site.sessions.size).toBe(0);
});

function requestsOf(site: WebSite, method: string): number {
  return site.requests.filter(({ body }) => body.includes(`"method":"${method}"`)).length;
}

const call = { ...callParts, mayRepeat: false };
