import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startTestGateway, waitFor } from '../../src/testing/index.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { databases, locationOf } from '../support/stores.ts';
import { startWebSite } from '../support/web-site.ts';
import { KEY } from './desk.ts';

const config = (host: string, url: string) => ({
  model: scriptedModel(({ prompt }) =>
    JSON.stringify(prompt.at(-1)).includes('Please pay.')
      ? { toolName: 'send_money', input: { amount: 5 } }
      : 'Waiting.',
  ),
  agents: [{ name: 'Clerk', instructions: 'Pay.', tools: ['send_money'] }],
  spaces: [
    {
      name: 'Office',
      agents: ['Clerk'],
      people: [
        { name: 'Ada', externalId: 'ada' },
        { name: 'Ben', externalId: 'ben' },
      ],
    },
  ],
  tools: {
    send_money: tool({
      description: 'Sends money.',
      inputSchema: z.object({ amount: z.number() }),
      effects: 'external',
      approval: true,
      execute: () => 'sent',
    }),
  },
  notify: {
    ada: {
      webhook: { url, signingSecret: '${env.NOTIFY_KEY}' },
      person: { externalId: 'ada' },
      events: ['call.waiting'] as const,
    },
  },
  secrets: ['NOTIFY_KEY'],
  env: { NOTIFY_KEY: KEY },
  egress: { allow: [host] },
  tuning: { sweepMs: 50 },
});

describe.each(databases)('links of notifications on $kind', ({ create }) => {
  const database = forAllTests(create);
  const site = forAllTests(async () => {
    const opened = await startWebSite();
    return { ...opened, requests: opened.requests, close: async () => await opened[Symbol.asyncDispose]() };
  });
  const gateway = forAllTests(async () => {
    const opened = await startTestGateway({ ...config(site.host, site.url), ...locationOf(database) });
    return { ...opened, close: opened.stop };
  });

  /** Makes the agent ask, and returns the code of the link that Ada gets. */
  async function ask(): Promise<{ code: string; callId: string; runId: string }> {
    const before = site.requests.length;
    const [{ id: spaceId }] = (await gateway.api('/api/spaces')).items;
    await gateway.api(`/api/spaces/${spaceId}/messages`, { entityId: await personOf('ben'), text: 'Please pay.' });
    const { body } = await waitFor(() => site.requests[before]);
    const { call, link } = JSON.parse(body);
    const { pending } = await gateway.api(`/api/calls/${call.id}`);
    expect(link.url.startsWith(`${gateway.url}/card#`)).toBe(true);
    return { code: new URL(link.url).hash.slice(1), callId: call.id, runId: pending.runId };
  }
  const open = (code: string): Promise<Response> => post('/api/card-links', { code });
  const post = (path: string, body: object, token?: string): Promise<Response> =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
    });
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it asserts on.
  const opened = async (code: string): Promise<any> => await (await open(code)).json();
  const personOf = async (externalId: string) =>
    (await gateway.api(`/api/entities?externalId=${externalId}`)).items[0].id;

  test('[O8] a link opens the one card, once, as the person it was sent to, who can answer it', async () => {
    const { code, callId, runId } = await ask();
    const { token, entity, ...rest } = await opened(code);
    const ada = await personOf('ada');
    expect(entity).toEqual({ id: ada, displayName: 'Ada' });
    expect(rest).toMatchObject({ callId, runId, expiresAt: expect.any(Number) });
    const shown = await gateway.api(`/api/calls/${callId}`, undefined, { key: token });
    expect(shown.card ?? shown.pending).toBeDefined();
    const grant = { callId, approve: true, grant: { for: 'always' } };
    expect((await post(`/api/runs/${runId}/tool-results`, grant, token)).status).toBe(403);
    const answered = await post(`/api/runs/${runId}/tool-results`, { callId, deny: 'Too much.' }, token);
    expect(answered.status).toBe(200);
    expect((await gateway.api(`/api/calls/${callId}`)).pending).toMatchObject({ status: 'resolved', resolvedBy: ada });
    const again = await open(code);
    expect(again.status).toBe(401);
    expect(((await again.json()) as Refusal).error).toMatchObject({
      code: 'link_not_valid',
      details: { reason: 'used' },
    });
  });

  test('[O8] of several browsers that open a link at the same moment, one gets access', async () => {
    const { code } = await ask();
    const answers = await Promise.all(Array.from({ length: 5 }, () => open(code)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 401, 401, 401, 401]);
  });

  test('[O8] requests that only load the address of a link do not use it up', async () => {
    const { code } = await ask();
    for (const method of ['GET', 'HEAD']) {
      for (const path of [`/card#${code}`, '/card', '/api/card-links'])
        await fetch(gateway.url + path, { method, headers: { accept: 'text/html' } });
    }
    expect((await open(code)).status).toBe(201);
  });

  test('[O8] the token of a link can do nothing else, and for it no other call exists', async () => {
    const first = await ask();
    const other = await ask();
    const { token } = await opened(first.code);
    const status = async (path: string, body?: object) => (await gateway.request(path, body, { key: token })).status;
    expect(await status(`/api/calls/${first.callId}`)).toBe(200);
    expect(await status(`/api/calls/${other.callId}`)).toBe(404);
    const answer = { callId: other.callId, approve: true };
    expect(await status(`/api/runs/${other.runId}/tool-results`, answer)).toBe(404);
    expect(await status(`/api/runs/${first.runId}/tool-results`, answer)).toBe(404);
    const paths = Object.entries((await gateway.api('/openapi.json')).paths as Record<string, Record<string, object>>);
    const statuses: [string, number][] = [];
    for (const [path, methods] of paths)
      for (const method of Object.keys(methods)) {
        const operation = `${method.toUpperCase()} ${path}`;
        const isOwn = ['GET /api/calls/{id}', 'POST /api/runs/{runId}/tool-results'].includes(operation);
        const isOpen = OPEN.includes(operation);
        if (isOwn || isOpen) continue;
        const at = path.replace(/\{\w+\}/g, 'x');
        const sent = await gateway.request(at, method === 'get' ? undefined : {}, {
          key: token,
          method: method.toUpperCase(),
        });
        await sent.body?.cancel();
        statuses.push([operation, sent.status]);
      }
    expect(statuses.length).toBeGreaterThan(80);
    expect(statuses.filter(([, one]) => one !== 403)).toEqual([]);
    expect((await gateway.api(`/api/calls/${other.callId}`)).pending.status).toBe('pending');
  });

  test('[O8] forged codes are refused, and counted like wrong sign-ins', async () => {
    const { code } = await ask();
    const statuses: number[] = [];
    for (let count = 0; count < 12; count++) statuses.push((await open(`${code}x${count}`)).status);
    expect(statuses[0] === 401 || statuses[0] === 429).toBe(true);
    expect(statuses.at(-1)).toBe(429);
    // A right one is always accepted.
    expect((await open(code)).status).toBe(201);
  });

  test('[O8] a person who may no longer answer cannot answer with a link either', async () => {
    const { code, callId, runId } = await ask();
    const { token } = await opened(code);
    const [{ id: spaceId }] = (await gateway.api('/api/spaces')).items;
    const entityId = await personOf('ada');
    await gateway.api(`/api/spaces/${spaceId}/members`, { entityId }, { method: 'DELETE' });
    try {
      const answered = await post(`/api/runs/${runId}/tool-results`, { callId, approve: true }, token);
      expect(answered.status).toBe(404);
    } finally {
      await gateway.api(`/api/spaces/${spaceId}/members`, { entityId });
    }
  });

  test('[O8] operators see what was sent, and test a target', async () => {
    const { callId } = await ask();
    const list = await gateway.api('/api/notifications?limit=1');
    expect(list.items).toMatchObject([{ target: 'ada', event: 'call.waiting', status: 'sent', attempts: 1, callId }]);
    expect(JSON.stringify(list)).not.toContain('send_money');
    expect((await gateway.api('/api/notifications/targets')).items).toEqual([
      { name: 'ada', project: 'default', channel: 'webhook', events: ['call.waiting'] },
    ]);
    const { id } = await gateway.api('/api/notifications/targets/ada/test', {}, { method: 'POST' });
    await waitFor(async () => (await gateway.api('/api/notifications?limit=1')).items[0].status === 'sent');
    expect(JSON.parse(site.requests.at(-1)?.body ?? '')).toMatchObject({ type: 'test', id });
    const unfailed = await gateway.request(`/api/notifications/${id}/retry`, {}, { method: 'POST' });
    expect([unfailed.status, ((await unfailed.json()) as Refusal).error.code]).toEqual([409, 'not_failed']);
    expect(await (await fetch(`${gateway.url}/metrics`)).text()).toMatch(
      /lastcall_notifications_total\{channel="webhook",outcome="sent"\} \d+/,
    );
  });

  test('[O8] a key of another project sees neither targets nor notifications', async () => {
    await ask();
    await gateway.api('/api/projects', { id: 'acme' });
    const { key } = await gateway.api('/api/keys', { name: 'theirs', scopes: ['admin'], project: 'acme' });
    expect((await gateway.api('/api/notifications', undefined, { key })).items).toEqual([]);
    expect((await gateway.api('/api/notifications/targets', undefined, { key })).items).toEqual([]);
    expect((await gateway.request('/api/notifications/targets/ada/test', {}, { key })).status).toBe(404);
    const [{ id }] = (await gateway.api('/api/notifications')).items;
    expect((await gateway.request(`/api/notifications/${id}/retry`, {}, { key })).status).toBe(404);
  });
});

interface Refusal {
  readonly error: { readonly code: string };
}

/** Operations that need no credentials. */
const OPEN = [
  'POST /api/session',
  'POST /api/card-links',
  'POST /hooks/{name}',
  'GET /oauth/callback',
  'GET /api/artifacts/{id}/content',
  'GET /health',
  'GET /ready',
  'GET /metrics',
  'GET /openapi.json',
];
