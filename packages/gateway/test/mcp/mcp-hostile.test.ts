import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { formsOf } from '../support/secret-forms.ts';
import { startWebSite } from '../support/web-site.ts';
import { startHttpProcess, startHttpServer } from './http-server.ts';
import { serverFiles, startMcpAgent, stdioServer } from './mcp-agent.ts';

const SECRET = 'sk-live_0123456789+/abcdef';

test.each(['stdio', 'http'] as const)(
  '200,000 messages of progress over %s leave the gateway quick and small, and the call settles',
  async (transport) => {
    const { server, files } = await stdioServer();
    await using site = await startHttpProcess(files);
    const http = { name: 'local', transport: 'http' as const, url: site.url };
    await using agent = await startMcpAgent([transport === 'http' ? http : server], { egress: { allow: [site.host] } });
    await agent.run([{ toolName: 'local__flood', input: { text: '1000' } }]);
    const before = process.memoryUsage.rss();
    let [largest, isOver] = [0, false];
    await agent.begin([{ toolName: 'local__flood', input: { text: '200000' } }]);
    const turns = watchTurns();
    const watch = (async () => {
      while (!isOver) {
        expect((await fetch(`${agent.gateway.url}/health`)).status).toBe(200);
        largest = Math.max(largest, process.memoryUsage.rss());
        await sleep(5);
      }
    })();
    const { settled } = await agent.ended();
    isOver = true;
    await watch;
    expect(settled[0]?.outcome).toMatchObject({ status: 'ok', text: 'flooded' });
    expect(largest - before).toBeLessThan(150_000_000);
    expect(turns.stop()).toBeLessThan(100);
  },
);

/**
 * The longest time that anybody else in this process waits for a turn, in ms of the processor's time: a busy machine may
 * take the processor away for as long as it likes.
 */
function watchTurns(): { stop(): number } {
  let longest = 0;
  let last = process.threadCpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.threadCpuUsage(last);
    longest = Math.max(longest, (user + system) / 1_000);
    last = process.threadCpuUsage();
  }, 1);
  return {
    stop() {
      clearInterval(timer);
      return longest;
    },
  };
}

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

test('[X8] a server that redirects to another origin gets no credentials there, and one to an inner address nothing', async () => {
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

test('[X8] a server on an inner address is not connected to, unless egress.allow opens it', async () => {
  const files = await serverFiles();
  await using site = await startHttpServer(files);
  await using agent = await startMcpAgent([{ name: 'web', transport: 'http', url: site.url }]);
  expect((await agent.run()).status).toBe('completed');
  expect(site.requests).toEqual([]);
  const [{ status, problem }] = (await agent.gateway.api('/api/mcp/servers')).items;
  expect([status, problem]).toEqual(['down', expect.stringContaining('loopback')]);
});

test('one message of more than 10 MiB ends the call, and does not fill the memory', async () => {
  const files = await serverFiles();
  await using site = await startHttpServer(files);
  await using agent = await startMcpAgent([{ name: 'web', transport: 'http', url: site.url }], {
    egress: { allow: [site.host] },
  });
  const { settled } = await agent.run([{ toolName: 'web__huge' }]);
  expect(settled[0]?.outcome).toMatchObject({ status: 'error', code: 'unknown_outcome' });
});
