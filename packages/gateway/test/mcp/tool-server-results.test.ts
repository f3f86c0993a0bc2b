import { expect, test } from 'vitest';
import { type McpAgent, startMcpAgent } from './mcp-agent.ts';
import { PIXEL } from './misbehaving-server.ts';
import { startToolServer } from './tool-server.ts';

type Site = Awaited<ReturnType<typeof startToolServer>>;

const agentOf = (site: Site, agent: object = {}): Promise<McpAgent> =>
  startMcpAgent([{ name: 'web', transport: 'http', url: site.url }], { egress: { allow: [site.host] }, agent });

test('[X16] the model reads structured content that comes with files and without text', async () => {
  const structuredContent = { title: 'Sunset', width: 1 };
  const content = [{ type: 'image', mimeType: 'image/png', data: PIXEL }];
  await using site = await startToolServer({ pages: [['snap']], call: () => ({ content, structuredContent }) });
  await using agent = await agentOf(site);
  const { settled } = await agent.run([{ toolName: 'web__snap' }]);
  expect(settled[0]?.outcome).toMatchObject({ status: 'ok', value: structuredContent });
  expect(settled[0]?.outcome.text).toMatch(/^\{"title":"Sunset","width":1\}\n\n\[image\/png, 72 bytes, stored as /);
  expect(settled[0]?.outcome.content).toHaveLength(1);
});

test('[X16] a malformed result is an error, and is not retried, because the tool has acted', async () => {
  let calls = 0;
  await using site = await startToolServer({
    pages: [['pay']],
    call() {
      calls++;
      return { content: 'paid' };
    },
  });
  await using agent = await agentOf(site, { middleware: [{ retry: { attempts: 3 } }] });
  const { settled } = await agent.run([{ toolName: 'web__pay' }]);
  expect(settled[0]?.outcome).toMatchObject({ status: 'error', code: 'invalid_output' });
  expect(settled[0]?.outcome.text).toMatch(/^"pay" has acted, but its result cannot be read: /);
  expect(calls).toBe(1);
});

test('[X15] a call that cannot be sent, because its server forgets each session, is server_unavailable', async () => {
  await using site = await startToolServer({ pages: [['pay']], call: () => 404 });
  await using agent = await agentOf(site);
  const { settled } = await agent.run([{ toolName: 'web__pay' }]);
  expect(settled[0]?.outcome).toMatchObject({ status: 'error', code: 'server_unavailable' });
});

test('[X24] the tools of many small pages are all read, and no page after the last tool that is used', async () => {
  const names = (from: number, count: number) => Array.from({ length: count }, (_, index) => `tool-${from + index}`);
  const pagesOf = (count: number, size: number) =>
    Array.from({ length: count / size }, (_, index) => names(index * size, size));
  await using small = await startToolServer({ pages: pagesOf(500, 5) });
  await using large = await startToolServer({ pages: pagesOf(6_000, 25) });
  const servers = [small, large].map(({ url }, index) => ({ name: `web${index}`, transport: 'http' as const, url }));
  await using agent = await startMcpAgent(servers, { egress: { allow: [small.host, large.host] } });
  await agent.run();
  const { items } = await agent.gateway.api('/api/mcp/servers');
  expect(items.map((one: { status: string; tools: unknown[] }) => [one.status, one.tools.length])).toEqual([
    ['up', 500],
    ['up', 1_000],
  ]);
});
