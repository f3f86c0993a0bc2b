import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { formsOf } from '../support/secret-forms.ts';
import { startWebSite } from '../support/web-site.ts';
import { startHttpServer } from './http-server.ts';
import { serverFiles, startMcpAgent, stdioServer } from './mcp-agent.ts';

const SECRET = 'sk-live_0123456789+/abcdef';

test('[X1] patterns of a server’s schemas are not run', async () => {
  const { server } = await stdioServer();
  await using agent = await startMcpAgent([server]);
  const startedAt = performance.now();
  const text = `${'a'.repeat(40)}!`;
  const { settled } = await agent.run([{ toolName: 'local__pattern', input: { text } }]);
  expect(settled[0]?.outcome).toMatchObject({ status: 'ok', value: { text } });
  expect(performance.now() - startedAt).toBeLessThan(20_000);
});

test('[X7] a server that repeats its secrets leaves none in database, requests and answers', async () => {
  const { server } = await stdioServer({
    env: { API_KEY: '${env.API_KEY}' },
    tools: { secrets: { visible: true }, refuse: { visible: true } },
  });
  await using agent = await startMcpAgent([server], {
    secrets: ['API_KEY'],
    env: { API_KEY: SECRET },
    spaces: [{ name: 'Lobby', agents: ['Asker'] }],
  });
  const [{ id: spaceId }] = (await agent.gateway.api('/api/spaces')).items;
  const { settled, requests } = await agent.run(
    [{ toolName: 'enter_space', input: { spaceId } }],
    [{ toolName: 'local__secrets' }, { toolName: 'local__refuse' }, { toolName: 'local__env' }],
  );
  expect(settled.map(({ outcome }) => outcome.text)).toContain('It is [redacted].');
  const stored = await Promise.all(
    (await readdir(agent.gateway.home)).map((name) => readFile(join(agent.gateway.home, name), 'latin1')),
  );
  const answers = await Promise.all(
    ['/api/mcp/tools', '/api/mcp/servers'].map(async (path) => JSON.stringify(await agent.gateway.api(path))),
  );
  const everything = [...stored, ...answers, ...requests, JSON.stringify(settled)].join('\n');
  expect(everything).toContain('Knows [redacted].');
  for (const [form, text] of formsOf(SECRET)) expect([form, everything.includes(text)]).toEqual([form, false]);
});

test('[X8] a redirect to another origin gets no credentials, and one to an internal address is not followed', async () => {
  await using other = await startWebSite();
  await using inner = await startWebSite();
  const headers = { Authorization: 'Bearer ${env.API_KEY}' };
  for (const [target, status] of [
    [other, 302],
    [other, 307],
    [inner, 302],
    [inner, 307],
  ] as const) {
    await using site = await startWebSite((_request, response) =>
      response.writeHead(status, { location: `${target.url}/stolen` }).end(),
    );
    await using agent = await startMcpAgent([{ name: 'web', transport: 'http', url: site.url, headers }], {
      egress: { allow: [site.host, other.host] },
      secrets: ['API_KEY'],
      env: { API_KEY: SECRET },
    });
    expect((await agent.run()).status).toBe('completed');
    expect(site.requests.length).toBeGreaterThan(0);
  }
  expect(other.requests.filter(({ headers: sent }) => sent.authorization !== undefined)).toEqual([]);
  expect(inner.requests).toEqual([]);
});

test('[X8] a server on an internal address is not connected, unless egress.allow has it', async () => {
  const files = await serverFiles();
  await using site = await startHttpServer(files);
  await using agent = await startMcpAgent([{ name: 'web', transport: 'http', url: site.url }]);
  expect((await agent.run()).status).toBe('completed');
  expect(site.requests).toEqual([]);
  const [{ status, problem }] = (await agent.gateway.api('/api/mcp/servers')).items;
  expect([status, problem]).toEqual(['down', expect.stringContaining('loopback')]);
});
