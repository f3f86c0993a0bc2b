import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { startTestGateway, type TestGateway, waitFor } from '@lastcall/gateway/testing';
import { expect, test } from 'vitest';
import { KnownSecrets } from '../../src/telemetry/known-secrets.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { createRedact } from '../../src/telemetry/redact.ts';
import { isFirstStep } from '../support/requests.ts';
import { formsOf } from '../support/secret-forms.ts';
import { startWebSite } from '../support/web-site.ts';

const SECRET = 'sk live/+"ä&<%7$\\secret-0123456789';
const ASCII_SECRET = 'sk-live_0123456789+/abcdef';
const FORMS = [SECRET, ASCII_SECRET].flatMap((secret) => formsOf(secret));

/** A server that echoes everything it got, everywhere and in every form. */
const startEcho = () =>
  startWebSite(({ url, headers, body }, response) => {
    const all = JSON.stringify({ forms: FORMS, url, headers, body });
    if (url.startsWith('/redirect')) {
      response.writeHead(302, { location: `http://10.0.0.1/?q=${encodeURIComponent(ASCII_SECRET)}` }).end(all);
      return;
    }
    const status = url.startsWith('/error') ? 418 : url.startsWith('/busy') ? 503 : 200;
    const type = url.startsWith('/text') ? 'text/plain' : 'application/json';
    response.writeHead(status, { 'content-type': type, 'x-echo': ASCII_SECRET, 'retry-after': '0' }).end(all);
  });

/** Everything that the gateway stored, logged and answered. */
async function everythingOf(gateway: TestGateway, logs: readonly string[]): Promise<string> {
  const files = await readdir(gateway.home, { recursive: true, withFileTypes: true });
  const stored = await Promise.all(
    files.filter((one) => one.isFile()).map((one) => readFile(join(one.parentPath, one.name), 'utf8')),
  );
  const get = async (path: string): Promise<string> => JSON.stringify(await gateway.api(path));
  const { items: runs } = await gateway.api('/api/runs?limit=100');
  const { items: agents } = await gateway.api('/api/agents');
  const { items: spaces } = await gateway.api('/api/spaces');
  const answers = await Promise.all([
    ...runs.flatMap(({ id }: { id: string }) => [get(`/api/runs/${id}`), get(`/api/runs/${id}/transcript?limit=200`)]),
    ...agents.flatMap(({ id }: { id: string }) => [get(`/api/agents/${id}`), get(`/api/agents/${id}/consciousness`)]),
    ...spaces.map(({ id }: { id: string }) => get(`/api/spaces/${id}/messages?limit=200`)),
  ]);
  return [...stored, ...answers, ...logs].join('\n');
}

test('[X7] a server that echoes secrets everywhere leaves none in database, logs, streams, transcripts and responses', async () => {
  await using site = await startEcho();
  const logs: string[] = [];
  const destination = new Writable({
    write(line, _encoding, done) {
      logs.push(String(line));
      done();
    },
  });
  const logger = createLogger({
    level: 'debug',
    destination,
    redact: createRedact(new KnownSecrets([SECRET, ASCII_SECRET])),
  });
  const http = (path: string, more: object = {}) => ({
    executionType: 'gateway' as const,
    execution: {
      url: `${site.url}${path}?key=\${env.ODD_KEY}`,
      method: 'POST',
      headers: { Authorization: 'Bearer ${env.PLAIN_KEY}', 'X-Basic': 'user:${env.PLAIN_KEY}' },
      body: { key: '${env.ODD_KEY}', text: 'x${env.ODD_KEY}y' },
      ...more,
    },
  });
  const tools = {
    json: http('/json'),
    text: http('/text'),
    error: http('/error'),
    busy: { ...http('/busy'), idempotent: true },
    redirect: http('/redirect'),
    code: tool({
      description: 'Reports and returns secrets.',
      inputSchema: { type: 'object' },
      execute(_input, ctx) {
        for (const [, form] of FORMS) ctx.progress({ form });
        ctx.logger.info('logs', { FORMS });
        return { FORMS, error: new Error(SECRET) };
      },
    }),
    throwing: tool({
      description: 'Throws a secret.',
      inputSchema: { type: 'object' },
      execute() {
        throw new Error(FORMS.map(([, form]) => form).join(' '));
      },
    }),
  };
  let spaceId = '';
  const read: string[] = [];
  const model = scriptedModel((request) => {
    read.push(JSON.stringify(request.prompt));
    if (isFirstStep(request))
      return [
        { toolName: 'enter_space', input: { spaceId } },
        ...Object.keys(tools).map((toolName) => ({ toolName, input: {} })),
      ];
    return 'Done.';
  });
  await using gateway = await startTestGateway({
    model,
    tools,
    logger,
    agents: [{ name: 'Asker', instructions: 'Ask.', tools: Object.keys(tools), middleware: ['log'] }],
    spaces: [{ name: 'Lobby', agents: ['Asker'] }],
    secrets: ['ODD_KEY', 'PLAIN_KEY'],
    env: { ODD_KEY: SECRET, PLAIN_KEY: ASCII_SECRET },
    egress: { allow: [site.host] },
  });
  const [space] = (await gateway.api('/api/spaces')).items;
  spaceId = space.id;
  const [{ id }] = (await gateway.api('/api/agents')).items;
  await gateway.api(`/api/agents/${id}/events`, { source: 'test', name: 'ask' });
  const run = await waitFor(async () => (await gateway.api(`/api/runs?agentId=${id}`)).items.find(isCompleted));
  expect(run.status).toBe('completed');
  // The server did get them.
  expect(site.requests.map(({ headers }) => headers.authorization)).toEqual(Array(7).fill(`Bearer ${ASCII_SECRET}`));
  const everything = [await everythingOf(gateway, logs), ...read].join('\n');
  expect(everything).toContain('[redacted]');
  const known = new KnownSecrets([SECRET, ASCII_SECRET]);
  expect(everything.split('\n').filter((line) => known.isIn(line))).toEqual([]);
  // A search that does not rely on our own patterns.
  for (const [form, text] of FORMS) expect([form, everything.includes(text)]).toEqual([form, false]);
});

function isCompleted({ status }: { status: string }): boolean {
  return status === 'completed';
}

test('[X7] no part of a secret is left at the position where a response is cut', async () => {
  const limit = 1_048_576;
  await using site = await startWebSite((_request, response) =>
    response.end(`${'x'.repeat(limit - 10)}${ASCII_SECRET}${ASCII_SECRET.repeat(200_000)}`),
  );
  const model = scriptedModel((request) => (isFirstStep(request) ? [{ toolName: 'ask', input: {} }] : 'Done.'));
  await using gateway = await startTestGateway({
    model,
    tools: { ask: { executionType: 'gateway', visible: false, execution: { url: site.url } } },
    agents: [{ name: 'Asker', instructions: 'Ask.', tools: ['ask'] }],
    secrets: ['PLAIN_KEY'],
    env: { PLAIN_KEY: ASCII_SECRET },
    egress: { allow: [site.host] },
    tuning: { outputBytes: 4_000_000 },
  });
  const [{ id }] = (await gateway.api('/api/agents')).items;
  await gateway.api(`/api/agents/${id}/events`, { source: 'test', name: 'ask' });
  const run = await waitFor(async () => (await gateway.api(`/api/runs?agentId=${id}`)).items.find(isCompleted));
  const transcript = JSON.stringify(await gateway.api(`/api/runs/${run.id}/transcript?limit=200`));
  expect(transcript.includes('cut: the response')).toBe(true);
  expect(transcript.includes(ASCII_SECRET.slice(0, 6))).toBe(false);
  expect(transcript.includes(ASCII_SECRET.slice(-6))).toBe(false);
});
