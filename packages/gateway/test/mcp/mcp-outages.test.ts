import type { Logger } from '@lastcall/core';
import { waitFor } from '@lastcall/gateway/testing';
import { expect, test } from 'vitest';
import { startWebSite, type WebSite } from '../support/web-site.ts';
import { startHttpServer } from './http-server.ts';
import { logOf, type McpAgent, serverFiles, setState, startMcpAgent, stdioServer } from './mcp-agent.ts';
import type { Files } from './misbehaving-server.ts';

/** Collects what is logged. */
function listening(): { readonly lines: string[]; readonly logger: Logger } {
  const lines: string[] = [];
  const keep = (message: string, details?: unknown): void => {
    lines.push(`${message} ${JSON.stringify(details ?? {})}`);
  };
  return { lines, logger: { debug: () => {}, info: keep, warn: keep, error: keep } };
}

const isOffered = async (agent: McpAgent, name: string): Promise<boolean> =>
  (await agent.run()).offered[0]?.includes(name) === true;

/** The same server again, on the same port. */
async function restartHttp(site: WebSite, files: Files): Promise<WebSite> {
  await site[Symbol.asyncDispose]();
  return await startHttpServer(files, { port: site.port });
}

test('[X15] a server that is down does not stop the agent: the others work, and it is reported', async () => {
  const { server } = await stdioServer();
  const { lines, logger } = listening();
  await using agent = await startMcpAgent(
    [
      server,
      { name: 'gone', transport: 'stdio', command: '/nowhere/at/all' },
      { name: 'away', transport: 'http', url: 'http://127.0.0.1:1/mcp' },
    ],
    { logger, egress: { allow: ['127.0.0.1:1'] } },
  );
  const { settled, status } = await agent.run([{ toolName: 'local__echo', input: { text: 'hello' } }]);
  expect([status, settled[0]?.outcome.text]).toEqual(['completed', 'hello']);
  for (const name of ['gone', 'away'])
    expect(lines.filter((line) => line.includes(`"${name}" is down`))).toHaveLength(1);
  const { items } = await agent.gateway.api('/api/mcp/servers');
  expect(items.map((one: { name: string; status: string }) => [one.name, one.status])).toEqual([
    ['local', 'up'],
    ['gone', 'down'],
    ['away', 'down'],
  ]);
});

/** Another server on the MCP server's port, without tools. Counts the attempts to connect. */
async function startStandIn(port: number): Promise<WebSite & { attempts(): number }> {
  let attempts = 0;
  const site = await startWebSite(
    ({ body }, response) => {
      if (/"(initialize|server\/discover)"/.test(body)) attempts++;
      response.writeHead(503).end();
    },
    { port },
  );
  return Object.assign(site, { attempts: () => attempts });
}

test('[X15] a server over HTTP that is away is retried, and the first attempt after its return brings its tools, even without the session', async () => {
  const files = await serverFiles();
  let site = await startHttpServer(files);
  await using agent = await startMcpAgent([{ name: 'web', transport: 'http', url: site.url }], {
    egress: { allow: [site.host] },
  });
  const connected = async () => (await logOf(files)).filter((line) => line === 'initialize').length;
  expect(await isOffered(agent, 'web__echo')).toBe(true);
  const { port } = site;
  await site[Symbol.asyncDispose]();
  const standIn = await startStandIn(port);
  await waitFor(() => standIn.attempts() >= 2, { timeoutMs: 60_000 });
  const statusNow = async () => (await agent.gateway.api('/api/mcp/servers')).items[0].status;
  await waitFor(async () => (await statusNow()) === 'down', { timeoutMs: 60_000 });
  expect(await isOffered(agent, 'web__echo')).toBe(false);
  await standIn[Symbol.asyncDispose]();
  site = await startHttpServer(files, { port });
  // Each check of the offered tools is a complete run, so they start only when there is something to see.
  await waitFor(async () => (await connected()) > 1, { timeoutMs: 60_000 });
  await waitFor(() => isOffered(agent, 'web__echo'), { timeoutMs: 60_000 });
  expect(await connected()).toBe(2);
  // Restarted between two calls: its session is unknown, and the call goes through a new one.
  site = await restartHttp(site, files);
  const { settled } = await agent.run([{ toolName: 'web__echo', input: { text: 'again' } }]);
  expect(settled[0]?.outcome).toMatchObject({ status: 'ok', text: 'again' });
  await site[Symbol.asyncDispose]();
});

test('[X15] a process that died between two calls is started again for the next one', async () => {
  const { server, files } = await stdioServer();
  await using agent = await startMcpAgent([server]);
  await agent.run([{ toolName: 'local__die' }]);
  await waitFor(() => isOffered(agent, 'local__echo'), { timeoutMs: 60_000 });
  const { settled } = await agent.run([{ toolName: 'local__echo', input: { text: 'again' } }]);
  expect(settled[0]?.outcome).toMatchObject({ status: 'ok', text: 'again' });
  expect((await logOf(files)).filter((line) => line === 'initialize')).toHaveLength(2);
});

test('[X15] malformed tools are reported one by one, and the good ones appear', async () => {
  const { server } = await stdioServer();
  const { lines, logger } = listening();
  await using agent = await startMcpAgent([server], { logger });
  const { offered } = await agent.run();
  expect(offered[0]).toContain('local__echo');
  for (const bad of ['local__42', 'local__no-schema', 'local__remote-ref']) expect(offered[0]).not.toContain(bad);
  const [report = ''] = lines.filter((line) => line.includes('cannot be used'));
  for (const bad of ['42: it is no tool', 'no-schema: it is no tool', 'remote-ref: its schema cannot be used'])
    expect(report).toContain(bad);
});

test('[X15] a changed list is used from the next step on, not within a step', async () => {
  const { server } = await stdioServer();
  await using agent = await startMcpAgent([server]);
  const { offered, settled } = await agent.run(
    // The second call of the first step names a tool that already exists on the server.
    [{ toolName: 'local__grow' }, { toolName: 'local__grown-0' }],
    [{ toolName: 'local__grown-0' }],
  );
  expect(offered.map((names) => names.includes('local__grown-0'))).toEqual([false, true, true]);
  expect(settled.map(({ outcome }) => outcome.code ?? outcome.text)).toEqual([
    'grown',
    'unknown_tool',
    'called grown-0',
  ]);
});

test('[X24] a list that cannot be read leaves the last good one in use, and is read again soon', async () => {
  const { server, files } = await stdioServer();
  await using agent = await startMcpAgent([server]);
  await agent.run();
  await setState(files, { listFails: true });
  const noted = async (line: string) => (await logOf(files)).filter((one) => one === line).length;
  await agent.run([{ toolName: 'local__grow' }]);
  await waitFor(async () => (await noted('list refused')) >= 2, { timeoutMs: 60_000 });
  expect(await isOffered(agent, 'local__echo')).toBe(true);
  await setState(files, {});
  await waitFor(() => isOffered(agent, 'local__grown-0'), { timeoutMs: 60_000 });
  expect(await noted('initialize')).toBe(1);
});

test.each(['stdio', 'http'] as const)(
  '[X15] a server over %s that dies in a call settles that call at once, and it runs once',
  async (transport) => {
    const { server, files } = await stdioServer();
    await using site = await startHttpServer(files);
    const http = { name: 'local', transport: 'http' as const, url: site.url };
    await using agent = await startMcpAgent([transport === 'http' ? http : server], { egress: { allow: [site.host] } });
    await agent.run();
    const { settled, status } = await agent.run([{ toolName: 'local__die' }]);
    // Not a timeout, which would mean that the call waited for the server.
    expect(settled[0]?.outcome).toMatchObject({ status: 'error', code: 'unknown_outcome' });
    expect(status).toBe('completed');
    expect((await logOf(files)).filter((line) => line.startsWith('call die'))).toHaveLength(1);
  },
);

test.each(['stdio', 'http'] as const)(
  '[X15] a call that a trusted server over %s calls idempotent is repeated after the server died in it',
  async (transport) => {
    const { server, files } = await stdioServer();
    await using site = await startHttpServer(files);
    const http = { name: 'local', transport: 'http' as const, url: site.url };
    const config = { ...(transport === 'http' ? http : server), trusted: true };
    await using agent = await startMcpAgent([config], { egress: { allow: [site.host] } });
    const { settled } = await agent.run([{ toolName: 'local__die-once' }]);
    expect(settled[0]?.outcome).toMatchObject({ status: 'ok', text: 'alive' });
    expect((await logOf(files)).filter((line) => line.startsWith('call die-once'))).toHaveLength(2);
  },
);

test('[X15] a lost call is not repeated by the middleware that retries', async () => {
  const { server, files } = await stdioServer();
  await using agent = await startMcpAgent([server], { agent: { middleware: [{ retry: { attempts: 3 } }] } });
  const { settled } = await agent.run([{ toolName: 'local__die' }]);
  expect(settled[0]?.outcome).toMatchObject({ status: 'error', code: 'unknown_outcome' });
  expect((await logOf(files)).filter((line) => line.startsWith('call die'))).toHaveLength(1);
});
