import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { startTestGateway, waitFor } from '../../src/testing/index.ts';
import { startWebSite, type WebSite } from '../support/web-site.ts';
import { KEY } from './desk.ts';

const options = (site: WebSite) => ({
  notify: { ops: { webhook: { url: site.url, signingSecret: '${env.NOTIFY_KEY}' } } },
  secrets: ['NOTIFY_KEY'],
  env: { NOTIFY_KEY: KEY },
  egress: { allow: [site.host] },
  tuning: { sweepMs: 50, retryMs: 1 },
});
const told = (site: WebSite) => site.requests.map(({ body }) => JSON.parse(body));

test('[O8] a run that fails and is not retried is sent, and earlier attempts are not', async () => {
  await using site = await startWebSite();
  const model = scriptedModel(() => {
    throw new Error('The provider is down, says Ada.');
  });
  await using gateway = await startTestGateway({
    ...options(site),
    model,
    agents: [{ name: 'Clerk', instructions: 'Pay.', limits: { maxAttempts: 2 } }],
  });
  const [{ id }] = (await gateway.api('/api/agents')).items;
  await gateway.api(`/api/agents/${id}/events`, { source: 'test', name: 'go' });
  const [failed] = await waitFor(() => site.requests.length > 0 && told(site));
  expect(model.requests.length).toBeGreaterThan(1);
  expect(told(site)).toHaveLength(1);
  expect(failed).toMatchObject({ type: 'agent.failed', title: 'Clerk failed', agent: { id, name: 'Clerk' } });
  expect(failed.link.url).toBe(`${gateway.url}/runs/${failed.runId}`);
  // The first attempt failed too, and was retried.
  expect(await gateway.api(`/api/runs/${failed.runId}`)).toMatchObject({
    status: 'failed',
    retryOf: expect.any(String),
  });
  expect(JSON.stringify(failed)).not.toContain('Ada');
});

test('[O8] a spend limit that is reached is sent once', async () => {
  await using site = await startWebSite();
  await using gateway = await startTestGateway({
    ...options(site),
    model: scriptedModel(() => 'Paid.'),
    agents: [{ name: 'Clerk', instructions: 'Pay.', limits: { spend: { perDayTokens: 1 } } }],
  });
  for (let count = 0; count < 3; count++) await gateway.api('/chat', { agent: 'Clerk', message: 'Pay.' });
  const [reached] = await waitFor(() => site.requests.length > 0 && told(site));
  expect(reached).toMatchObject({ type: 'limit.reached', limit: { scope: 'agent' }, agent: { name: 'Clerk' } });
  expect(reached.link.url).toBe(`${gateway.url}/usage`);
  await gateway.api('/api/notifications/targets/ops/test', {});
  await waitFor(() => told(site).some(({ type }) => type === 'test'));
  expect(told(site).map(({ type }) => type)).toEqual(['limit.reached', 'test']);
});

test('[O13] while a target never answers, runs continue and their calls are answered', async () => {
  await using site = await startWebSite(() => {});
  const ask = tool({ description: 'Asks.', inputSchema: z.object({}), approval: true, execute: () => 'done' });
  const model = scriptedModel(({ prompt }) =>
    JSON.stringify(prompt.at(-1)).includes('Please ask.') ? { toolName: 'ask', input: {} } : 'Fine.',
  );
  await using gateway = await startTestGateway({
    ...options(site),
    model,
    agents: [{ name: 'Clerk', instructions: 'Ask.', tools: ['ask'] }],
    tools: { ask },
  });
  for (let count = 0; count < 10; count++) {
    const { stop } = await gateway.api('/chat', { agent: 'Clerk', message: 'Please ask.' });
    expect(stop.reason).toBeDefined();
  }
  // All of them waited while the first attempts were active.
  await waitFor(() => site.requests.length > 0);
  const waiting = (await gateway.api('/api/pending')).items;
  expect(waiting).toHaveLength(10);
  for (const { runId, callId } of waiting) {
    const { runId: next } = await gateway.api(`/api/runs/${runId}/tool-results`, { callId, approve: true });
    await waitFor(async () => (await gateway.api(`/api/runs/${next}`)).status === 'completed');
  }
  expect((await gateway.api('/api/notifications?status=sent')).items).toEqual([]);
});
