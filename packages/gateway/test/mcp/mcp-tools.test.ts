import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { tool } from '@lastcall/core';
import { waitFor } from '@lastcall/gateway/testing';
import { expect, test } from 'vitest';
import { startHttpServer } from './http-server.ts';
import { serverFiles, startMcpAgent, stdioServer } from './mcp-agent.ts';
import { startModernServer } from './modern-server.ts';

const EVERYTHING = new URL(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js')).pathname;

test('[X14] a stdio server offers its tools as server__tool, and only the allowed ones', async () => {
  const { server } = await stdioServer({ allowedTools: ['echo', 'env'] });
  await using agent = await startMcpAgent([server]);
  const { settled, offered } = await agent.run([{ toolName: 'local__echo', input: { text: 'hello' } }]);
  expect(settled.map(({ outcome }) => outcome)).toMatchObject([{ status: 'ok', value: 'hello', text: 'hello' }]);
  expect(offered[0]?.filter((name) => name.includes('__'))).toEqual(['local__echo', 'local__env']);
});

test('the tools of servers that agents use are in the list of all tools, with their source', async () => {
  const { server } = await stdioServer({ allowedTools: ['echo'], tools: { echo: { visible: true } } });
  await using agent = await startMcpAgent([server]);
  await agent.run();
  const { items } = await agent.gateway.api('/api/tools');
  const echo = items.find(({ name }: { name: string }) => name === 'local__echo');
  expect(echo).toMatchObject({ source: 'mcp', executionType: 'gateway', visible: true, effects: 'external' });
  expect(echo.inputSchema).toMatchObject({ type: 'object' });
});

test('[X14] a tool with an odd and long name can be called by its shortened one', async () => {
  const { server } = await stdioServer();
  await using agent = await startMcpAgent([server]);
  const { offered } = await agent.run();
  const toolName = offered[0]?.find((name) => name.startsWith('local__an-odd-name')) ?? '';
  const { settled } = await agent.run([{ toolName }]);
  expect(settled[0]?.outcome.text).toMatch(/^called an odd name, and far too long/);
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

test('[X14] a stdio server gets the variables it is configured to get, and not the gateway’s', async () => {
  process.env.LASTCALL_TEST_SECRET = 'the-gateway-has-this';
  const { server } = await stdioServer({ env: { MODE: 'plain', TOKEN: '${env.API_KEY}' } });
  await using agent = await startMcpAgent([server], {
    secrets: ['API_KEY'],
    env: { API_KEY: 'a-key-of-some-length', OTHER: 'not-for-it' },
  });
  const { settled } = await agent.run([{ toolName: 'local__env' }]);
  delete process.env.LASTCALL_TEST_SECRET;
  const seen = JSON.parse(settled[0]?.outcome.text ?? '{}');
  const system = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER'];
  expect(Object.keys(seen).filter((name) => !system.includes(name))).toEqual(['MODE', 'TOKEN']);
  expect(seen).toMatchObject({ MODE: 'plain', TOKEN: '[redacted]' });
});

test('[X14] MCP tools are invisible by default, and visible, terminal or with approval if configured', async () => {
  const { server } = await stdioServer({
    tools: { echo: { visible: true, terminal: true }, break: { approval: true } },
  });
  let spaceId = '';
  await using agent = await startMcpAgent([server], { spaces: [{ name: 'Lobby', agents: ['Asker'] }] });
  [{ id: spaceId }] = (await agent.gateway.api('/api/spaces')).items;
  const { settled } = await agent.run(
    [{ toolName: 'enter_space', input: { spaceId } }],
    [{ toolName: 'local__grow' }, { toolName: 'local__break' }],
    [{ toolName: 'local__echo', input: { text: 'the end' } }],
    [{ toolName: 'local__grow' }],
  );
  expect(settled.map(({ toolName, outcome }) => [toolName, outcome.status])).toEqual([
    ['enter_space', 'ok'],
    ['local__grow', 'ok'],
    ['local__break', 'pending'],
    ['local__echo', 'ok'],
  ]);
  const { items } = await agent.gateway.api(`/api/spaces/${spaceId}/messages`);
  const cards = items.filter(({ kind }: { kind: string }) => kind === 'tool');
  expect(cards.map(({ metadata }: { metadata: { toolName: string } }) => metadata.toolName)).toEqual(['local__echo']);
});

test('[X14] a server cannot replace a tool that the agent already has', async () => {
  const { server } = await stdioServer();
  const own = tool({ description: 'Own.', inputSchema: { type: 'object' }, execute: () => 'own' });
  await using agent = await startMcpAgent([server], {
    tools: { local__echo: own },
    agent: { tools: ['local__echo'] },
  });
  const { settled } = await agent.run([{ toolName: 'local__echo' }]);
  expect(settled[0]?.outcome).toMatchObject({ status: 'ok', value: 'own' });
});

test('[X14] a server of the 2026 specification works, with structured results', async () => {
  await using modern = await startModernServer();
  await using agent = await startMcpAgent([{ name: 'modern', transport: 'http', url: modern.url }], {
    egress: { allow: [modern.host] },
  });
  const { settled } = await agent.run([{ toolName: 'modern__add', input: { a: 2, b: 3 } }]);
  expect(settled[0]?.outcome).toMatchObject({ status: 'ok', value: { sum: 5 }, text: '5' });
});

test('[X14] the reference server works as a process', async () => {
  await using agent = await startMcpAgent([
    { name: 'everything', transport: 'stdio', command: process.execPath, args: [EVERYTHING, 'stdio'] },
  ]);
  const { settled, offered } = await agent.run(
    [{ toolName: 'everything__echo', input: { message: 'hi' } }],
    [{ toolName: 'everything__get-structured-content', input: { location: 'Chicago' } }],
    [{ toolName: 'everything__get-tiny-image' }],
  );
  expect(offered[0]?.filter((name) => name.startsWith('everything__')).length).toBeGreaterThanOrEqual(13);
  expect(settled.map(({ outcome }) => outcome.status)).toEqual(['ok', 'ok', 'ok']);
  expect(settled[0]?.outcome.text).toBe('Echo: hi');
  expect(settled[1]?.outcome.value).toMatchObject({ temperature: expect.any(Number) });
  expect(settled[2]?.outcome.content).toMatchObject([{ type: 'file', mediaType: 'image/png' }]);
});

test('[X14] the reference server works over Streamable HTTP', async () => {
  const port = await freePort();
  const process_ = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: 'ignore',
  });
  try {
    await waitFor(
      () =>
        fetch(`http://127.0.0.1:${port}/mcp`).then(
          () => true,
          () => false,
        ),
      { timeoutMs: 60_000 },
    );
    await using agent = await startMcpAgent(
      [{ name: 'everything', transport: 'http', url: `http://127.0.0.1:${port}/mcp` }],
      { egress: { allow: [`127.0.0.1:${port}`] } },
    );
    const { settled } = await agent.run([{ toolName: 'everything__get-sum', input: { a: 2, b: 3 } }]);
    expect(settled[0]?.outcome).toMatchObject({ status: 'ok', text: 'The sum of 2 and 3 is 5.' });
  } finally {
    process_.kill();
  }
});

test('an agent of the API cannot start a program, unless the configuration file starts the same one', async () => {
  const { server } = await stdioServer();
  await using agent = await startMcpAgent([server]);
  const post = (servers: readonly object[], field = 'mcpServers') =>
    agent.gateway.request('/api/agents', {
      name: 'B',
      instructions: '',
      ...(field === 'mcp' ? { mcp: { servers } } : { [field]: servers }),
    });
  const evil = { name: 'x', transport: 'stdio', command: 'sh', args: ['-c', 'true'] };
  for (const field of ['mcp', 'mcpServers']) {
    const refused = await post([evil], field);
    expect(refused.status).toBe(422);
    const path = field === 'mcp' ? 'mcp.servers[0].command' : 'mcpServers[0].command';
    expect(await refused.json()).toMatchObject({ error: { code: 'invalid_config', details: { path } } });
  }
  const patched = await agent.gateway.request(
    `/api/agents/${agent.agentId}`,
    { mcp: { servers: [evil] } },
    { method: 'PATCH' },
  );
  expect(patched.status).toBe(422);
  expect((await post([server])).status).toBe(201);
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
