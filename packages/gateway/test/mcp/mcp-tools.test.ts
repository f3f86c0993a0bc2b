import { expect, test } from 'vitest';
import { startHttpServer } from './http-server.ts';
import { logOf, serverFiles, startMcpAgent, stdioServer } from './mcp-agent.ts';

test('[X14] a stdio server offers its tools as server__tool, and only the allowed ones', async () => {
  const { server } = await stdioServer({ allowedTools: ['echo', 'env'] });
  await using agent = await startMcpAgent([server]);
  const { settled, offered } = await agent.run([{ toolName: 'local__echo', input: { text: 'hello' } }]);
  expect(settled.map(({ outcome }) => outcome)).toMatchObject([{ status: 'ok', value: 'hello', text: 'hello' }]);
  expect(offered[0]?.filter((name) => name.includes('__'))).toEqual(['local__echo', 'local__env']);
});

test('[X14] a server over HTTP gets its headers with their secrets', async () => {
  const files = await serverFiles();
  await using site = await startHttpServer(files);
  const headers = { Authorization: 'Bearer ${env.API_KEY}' };
  await using agent = await startMcpAgent([{ name: 'web', transport: 'http', url: site.url, headers }], {
    egress: { allow: [site.host] },
    secrets: ['API_KEY'],
    env: { API_KEY: 'a-key-of-some-length' },
  });
  const { settled } = await agent.run([{ toolName: 'web__echo', input: { text: 'hello' } }]);
  expect(settled[0]?.outcome).toMatchObject({ status: 'ok', value: 'hello' });
  expect(new Set(site.requests.map((request) => request.headers.authorization))).toEqual(
    new Set(['Bearer a-key-of-some-length']),
  );
});

test('[X15] a server that dies in a call settles that call at once, as unknown', async () => {
  const { server, files } = await stdioServer();
  await using agent = await startMcpAgent([server]);
  const startedAt = performance.now();
  const { settled, status } = await agent.run([{ toolName: 'local__die' }]);
  expect(settled[0]?.outcome).toMatchObject({ status: 'error', code: 'unknown_outcome' });
  expect(status).toBe('completed');
  expect((await logOf(files)).filter((line) => line.startsWith('call die'))).toHaveLength(1);
  expect(performance.now() - startedAt).toBeLessThan(10_000);
});
