import { scriptedModel } from '@lastcall/core/testing';
import { startTestGateway, type TestGateway, waitFor } from '@lastcall/gateway/testing';
import { expect, test } from 'vitest';
import { isFirstStep } from '../support/requests.ts';
import { startWebSite, type WebSite } from '../support/web-site.ts';

const CITIES = ['Oslo', 'Rome', 'Lima', 'Bonn'];
const inputSchema = { type: 'object', properties: { city: { type: 'string' } } };

/** An agent that calls the tool once for each city, in one step. */
async function startAsker(site: WebSite, settings: object = {}): Promise<TestGateway> {
  const model = scriptedModel((request) =>
    isFirstStep(request) ? CITIES.map((city) => ({ toolName: 'weather', input: { city } })) : 'Done.',
  );
  const execution = { url: `${site.url}/weather` };
  const weather = { executionType: 'internal', inputSchema, execution, ...settings } as const;
  const agents = [{ name: 'Asker', instructions: 'Ask.', tools: ['weather'] }];
  const options = { model, agents, tools: { weather }, egress: { allow: [site.host] } };
  return await startTestGateway(options);
}

/** How its calls ended. */
async function ask({ api }: TestGateway): Promise<readonly string[]> {
  const [{ id }] = (await api('/api/agents')).items;
  await api(`/api/agents/${id}/events`, { source: 'test', name: 'ask' });
  const run = await waitFor(async () => {
    const [newest] = (await api(`/api/runs?agentId=${id}`)).items;
    return newest?.status === 'completed' && newest;
  });
  const { items } = await api(`/api/runs/${run.id}/transcript?limit=200`);
  return items.flatMap(({ kind, entry }: { kind: string; entry: { settlement: { outcome: { status: string } } } }) =>
    kind === 'settled' ? [entry.settlement.outcome.status] : [],
  );
}

test('[R3] four GET requests of one batch are active at the same time', async () => {
  const all = Promise.withResolvers<void>();
  // Nothing is answered before all four have arrived.
  await using site = await startWebSite(async (_request, response) => {
    if (site.requests.length === CITIES.length) all.resolve();
    await all.promise;
    response.end('sunny');
  });
  await using gateway = await startAsker(site);
  expect(await ask(gateway)).toEqual(['ok', 'ok', 'ok', 'ok']);
});

test("[R3] the GET requests of a tool with effects: 'external' are sent one after the other", async () => {
  const arrivedMeanwhile: number[] = [];
  await using site = await startWebSite(async (_request, response) => {
    const before = site.requests.length;
    // The gateway responds, so it would have sent the next one by this time.
    for (let count = 0; count < 20; count++) await fetch(`${gateway.url}/health`);
    arrivedMeanwhile.push(site.requests.length - before);
    response.end('sunny');
  });
  await using gateway = await startAsker(site, { effects: 'external' });
  expect(await ask(gateway)).toEqual(['ok', 'ok', 'ok', 'ok']);
  expect(arrivedMeanwhile).toEqual([0, 0, 0, 0]);
});

test('[X10] a tool that sends GET or HEAD has no effects unless it says so, is a webhook, is signed or needs approval', async () => {
  const url = 'https://api.example.com/';
  const tools: Record<string, readonly [effects: string, tool: object]> = {
    get: ['none', { execution: { url } }],
    head: ['none', { execution: { url, method: 'HEAD' } }],
    get_external: ['none', { executionType: 'external', execution: { url } }],
    get_that_acts: ['external', { execution: { url }, effects: 'external' }],
    get_that_writes: ['session', { execution: { url }, effects: 'session' }],
    get_approved: ['external', { execution: { url }, approval: true }],
    get_signed: ['external', { execution: { url, signingSecret: '${env.KEY}' } }],
    with_body: ['external', { execution: { url, body: { a: 1 } } }],
    post: ['external', { execution: { url, method: 'POST' } }],
    post_that_reads: ['none', { execution: { url, method: 'POST' }, effects: 'none' }],
    delete: ['external', { execution: { url, method: 'DELETE' } }],
    webhook: ['external', { executionType: 'external', execution: { webhookUrl: url } }],
    webhook_by_get: ['external', { executionType: 'external', execution: { webhookUrl: url, method: 'GET' } }],
  };
  const configured = Object.entries(tools).map(([name, [, tool]]) => ({ name, executionType: 'gateway', ...tool }));
  await using gateway = await startTestGateway({ tools: configured as never });
  const { items } = await gateway.api('/api/tools?source=file&limit=100');
  expect(
    Object.fromEntries(items.map(({ name, effects }: { name: string; effects: string }) => [name, effects])),
  ).toEqual(Object.fromEntries(Object.entries(tools).map(([name, [effects]]) => [name, effects])));
});
