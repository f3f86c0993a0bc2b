import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { waitFor } from '@lastcall/gateway/testing';
import { expect, test } from 'vitest';
import { spaceStream } from '../../src/domain/streams/stream-names.ts';
import { startHttpServer } from './http-server.ts';
import { logOf, serverFiles, startMcpAgent, stdioServer } from './mcp-agent.ts';
import { PIXEL } from './misbehaving-server.ts';

test('[X16] hints of a server that is not trusted are ignored', async () => {
  const { server, files } = await stdioServer();
  await using agent = await startMcpAgent([server]);
  const { settled } = await agent.run([{ toolName: 'local__die-once' }]);
  expect(settled[0]?.outcome).toMatchObject({ status: 'error', code: 'unknown_outcome' });
  expect((await logOf(files)).filter((line) => line.startsWith('call die-once'))).toHaveLength(1);
});

test('[X16] read-only tools of a trusted server have no effects, and the configuration takes precedence over the hint', async () => {
  const cached = { middleware: [{ cache: { ttlMs: 60_000 } }] };
  const calls = async (more: object): Promise<number> => {
    const { server, files } = await stdioServer(more);
    await using agent = await startMcpAgent([server], { agent: cached });
    // Only calls without effects are answered from the cache. The first one ends the process.
    await agent.run([{ toolName: 'local__die-once' }]);
    await waitFor(async () => (await agent.run()).offered[0]?.includes('local__die-once'), { timeoutMs: 60_000 });
    await agent.run([{ toolName: 'local__die-once' }], [{ toolName: 'local__die-once' }]);
    return (await logOf(files)).filter((line) => line.startsWith('call die-once')).length;
  };
  expect(await calls({ trusted: true })).toBe(2);
  expect(await calls({})).toBe(3);
  expect(await calls({ tools: { 'die-once': { effects: 'none' } } })).toBe(2);
});

test('[X21] the cache is not used for another server with the same name', async () => {
  const [before, after] = [await serverFiles(), await serverFiles()];
  await using first = await startHttpServer(before);
  await using second = await startHttpServer(after);
  const tools = { echo: { effects: 'none' as const } };
  const at = (url: string) => ({ name: 'web', transport: 'http' as const, url, tools });
  await using agent = await startMcpAgent([at(first.url)], {
    agent: { middleware: [{ cache: { ttlMs: 60_000 } }] },
    egress: { allow: [first.host, second.host] },
  });
  const ask = { toolName: 'web__echo', input: { text: 'hello' } };
  await agent.run([ask], [ask]);
  const mcp = { servers: [at(second.url)] };
  await agent.gateway.api(`/api/agents/${agent.agentId}`, { mcp }, { method: 'PATCH' });
  await agent.run([ask], [ask]);
  for (const files of [before, after])
    expect((await logOf(files)).filter((line) => line.startsWith('call echo'))).toHaveLength(1);
});

test.each(['stdio', 'http'] as const)('[X16] the deadline of a call reaches a server over %s', async (transport) => {
  const { server, files } = await stdioServer({ timeout: 300 });
  await using site = await startHttpServer(files);
  const http = { name: 'local', transport: 'http' as const, url: site.url, timeout: 300 };
  await using agent = await startMcpAgent([transport === 'http' ? http : server], { egress: { allow: [site.host] } });
  const { settled } = await agent.run([{ toolName: 'local__wait' }]);
  expect(settled[0]?.outcome).toMatchObject({ status: 'error', code: 'timeout' });
  await waitFor(async () => (await logOf(files)).some((line) => line.startsWith('cancelled')));
});

test('[X16] an aborted run reaches the server', async () => {
  const { server, files } = await stdioServer();
  await using agent = await startMcpAgent([server]);
  await agent.begin([{ toolName: 'local__wait' }]);
  await waitFor(async () => (await logOf(files)).some((line) => line.startsWith('call wait')));
  const [{ id }] = (await agent.gateway.api(`/api/runs?agentId=${agent.agentId}`)).items;
  await agent.gateway.request(`/api/runs/${id}/cancel`, {});
  expect((await agent.ended()).status).toBe('cancelled');
  await waitFor(async () => (await logOf(files)).some((line) => line.startsWith('cancelled')));
});

test('[X16] progress becomes tool-call.progress, at most 20 a second', async () => {
  const { server } = await stdioServer({ tools: { flood: { visible: true } } });
  await using agent = await startMcpAgent([server], { spaces: [{ name: 'Lobby', agents: ['Asker'] }] });
  const [{ id: spaceId }] = (await agent.gateway.api('/api/spaces')).items;
  const startedAt = performance.now();
  await agent.run(
    [{ toolName: 'enter_space', input: { spaceId } }],
    [{ toolName: 'local__flood', input: { text: '20000' } }],
  );
  const seconds = (performance.now() - startedAt) / 1_000;
  const database = new DatabaseSync(join(agent.gateway.home, 'lastcall.db'), { readOnly: true });
  // The stream of the run has the same events.
  const rows = database
    .prepare("select payload from stream_events where type = 'tool-call.progress' and stream = ? order by seq")
    .all(spaceStream(spaceId));
  database.close();
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.length).toBeLessThanOrEqual(1 + 20 * seconds);
  expect(JSON.parse(String(rows[0]?.payload))).toMatchObject({ value: { progress: 1 } });
});

test('[X16] a result that does not fit the output schema is an error, and is not retried, because the tool has acted', async () => {
  const { server, files } = await stdioServer({ trusted: true });
  await using agent = await startMcpAgent([server], { agent: { middleware: [{ retry: { attempts: 3 } }] } });
  const { settled } = await agent.run([{ toolName: 'local__lie' }]);
  expect(settled[0]?.outcome).toMatchObject({ status: 'error', code: 'invalid_output' });
  expect((await logOf(files)).filter((line) => line.startsWith('call lie'))).toHaveLength(1);
});

test('[X16] [O10] files are stored for people, an image is also a part for the model, and no base64 is in the text or the value', async () => {
  const { server } = await stdioServer();
  await using agent = await startMcpAgent([server]);
  const { settled, requests } = await agent.run([{ toolName: 'local__picture' }]);
  const { outcome } = settled[0] ?? {};
  expect(outcome?.content).toEqual([{ type: 'file', mediaType: 'image/png', data: { type: 'data', data: PIXEL } }]);
  const urls = [...(outcome?.text.matchAll(/\/api\/artifacts\/[\w-]+/g) ?? [])].map(([url]) => url);
  const expected = [
    'Look:',
    `[image/png, 72 bytes, stored as ${urls[0]}]`,
    `[audio/wav, 300 bytes, stored as ${urls[1]}]`,
    '[resource file:///a.txt]\ninside',
    `[resource file:///b.bin] [text/html, 300 bytes, stored as ${urls[2]}]`,
    '[link to a resource: c, file:///c]',
  ].join('\n\n');
  expect([outcome?.text, outcome?.value]).toEqual([expected, expected]);
  expect(requests[1]?.split(PIXEL)).toHaveLength(2);
  const [image, audio, page] = await Promise.all(urls.map((url) => agent.gateway.request(url)));
  // People see what the model sees.
  expect(Buffer.from((await image?.arrayBuffer()) ?? new ArrayBuffer()).toString('base64')).toBe(PIXEL);
  expect(audio?.headers.get('content-type')).toBe('audio/wav');
  expect(new Uint8Array((await audio?.arrayBuffer()) ?? new ArrayBuffer())).toEqual(new Uint8Array(300));
  // The media type of the server is not trusted: a page would run in the browser of the person who opens it.
  expect(page?.headers.get('content-type')).toBe('application/octet-stream');
  expect(page?.headers.get('content-disposition')).toMatch(/^attachment; filename="[\w-]+\.bin"$/);
});

test('a call fails if the tool reports an error, or if the server refuses it', async () => {
  const files = await serverFiles();
  await using site = await startHttpServer(files);
  await using agent = await startMcpAgent([{ name: 'web', transport: 'http', url: site.url }], {
    egress: { allow: [site.host] },
  });
  const { settled } = await agent.run([{ toolName: 'web__break' }, { toolName: 'web__refuse' }]);
  expect(settled.map(({ outcome }) => outcome)).toMatchObject([
    { status: 'error', code: 'execution', text: 'It broke.' },
    { status: 'error', code: 'execution', text: expect.stringContaining('No, ') },
  ]);
});
