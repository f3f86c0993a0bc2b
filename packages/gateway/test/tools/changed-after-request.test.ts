import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { forAllTests, forEachTest } from '../support/for-all-tests.ts';
import { isFirstStep } from '../support/requests.ts';
import { embedded } from '../support/stores.ts';
import { startWebSite } from '../support/web-site.ts';
import { type Ended, type RegistryGateway, startRegistryGateway } from './registry-gateway.ts';

type Options = NonNullable<Parameters<typeof startRegistryGateway>[1]>;

describe.each(embedded)('an approval of a tool on $kind', ({ create }) => {
  const database = forEachTest(create);
  const site = forAllTests(async () => {
    const started = await startWebSite();
    return { ...started, close: async () => await started[Symbol.asyncDispose]() };
  });
  const gateways: RegistryGateway[] = [];
  const start = async (options: Options = {}): Promise<RegistryGateway> => {
    const gateway = await startRegistryGateway(database, { egress: { allow: [site.host] }, ...options });
    gateways.push(gateway);
    return gateway;
  };
  afterEach(async () => {
    for (const gateway of gateways.splice(0)) await gateway.stop();
  });

  const paying = (path: string, more: object = {}): object => ({
    name: 'pay',
    description: 'Pays.',
    executionType: 'gateway',
    approval: true,
    execution: { url: `${site.url}${path}`, method: 'POST' },
    ...more,
  });
  const patch = (gateway: RegistryGateway, path: string, body: object) => gateway.api(path, body, { method: 'PATCH' });
  const agentWith = async (gateway: RegistryGateway, tools: readonly unknown[]): Promise<string> =>
    (await gateway.api('/api/agents', { name: 'Bot', instructions: '', tools })).id;
  const paidAt = (): readonly string[] => site.requests.map(({ url }) => url);

  /** The agent calls `pay`, which waits for approval. */
  async function ask(gateway: RegistryGateway, agent: string): Promise<Ended> {
    gateway.calls = [{ toolName: 'pay' }];
    const call = (await gateway.runTurnLoop(agent)).at(-1);
    expect(call?.outcome).toMatchObject({ status: 'pending', kind: 'approval' });
    gateway.calls = [];
    return call as Ended;
  }

  async function approve(
    gateway: RegistryGateway,
    agent: string,
    { callId, runId }: Ended,
  ): Promise<Ended | undefined> {
    const runs = await gateway.runsEnded(agent);
    await gateway.api(`/api/runs/${runId}/tool-results`, { callId, approve: true });
    return (await gateway.afterRuns(agent, runs + 1)).find((one) => one.callId === callId);
  }

  const isVoid = { status: 'error', code: 'denied', text: expect.stringContaining('has changed') };

  test('[G67] an approval is void if the registered tool was changed after the request, and the next request is for the changed tool', async () => {
    const gateway = await start();
    await gateway.api('/api/tools', paying('/registered-a'));
    const agent = await agentWith(gateway, ['pay']);
    const first = await ask(gateway, agent);
    await patch(gateway, '/api/tools/pay', { execution: { url: `${site.url}/registered-b`, method: 'POST' } });
    expect((await approve(gateway, agent, first))?.outcome).toMatchObject(isVoid);
    expect(paidAt().filter((url) => url.startsWith('/registered'))).toEqual([]);
    const second = await ask(gateway, agent);
    expect((await approve(gateway, agent, second))?.outcome).toMatchObject({ status: 'ok' });
    expect(paidAt().filter((url) => url.startsWith('/registered'))).toEqual(['/registered-b']);
  });

  test('[G67] an approval is void if the tool was deleted and another one registered under its name', async () => {
    const gateway = await start();
    await gateway.api('/api/tools', paying('/deleted-a'));
    const agent = await agentWith(gateway, ['pay']);
    const call = await ask(gateway, agent);
    await gateway.request('/api/tools/pay', undefined, { method: 'DELETE' });
    await gateway.api('/api/tools', paying('/deleted-b'));
    await patch(gateway, `/api/agents/${agent}`, { tools: ['pay'] });
    expect((await approve(gateway, agent, call))?.outcome).toMatchObject(isVoid);
    expect(paidAt().filter((url) => url.startsWith('/deleted'))).toEqual([]);
  });

  test('[G67] an approval is void if the tool was changed in the configuration of its agent', async () => {
    const gateway = await start();
    const agent = await agentWith(gateway, [paying('/inline-a')]);
    const call = await ask(gateway, agent);
    await patch(gateway, `/api/agents/${agent}`, { tools: [paying('/inline-b')] });
    expect((await approve(gateway, agent, call))?.outcome).toMatchObject(isVoid);
    expect(paidAt().filter((url) => url.startsWith('/inline'))).toEqual([]);
  });

  test('[G67] an approval is void if a tool of the sub-agent that it is for was changed', async () => {
    const gateway = await start();
    await gateway.api('/api/tools', paying('/nested-a', { name: 'transfer', approval: false }));
    const agentConfig = { instructions: 'Pay.', tools: ['transfer'] };
    const subAgent = { name: 'pay', executionType: 'gateway', approval: true, execution: { agentConfig } };
    const agent = await agentWith(gateway, [subAgent]);
    const call = await ask(gateway, agent);
    await patch(gateway, '/api/tools/transfer', { execution: { url: `${site.url}/nested-b`, method: 'POST' } });
    expect((await approve(gateway, agent, call))?.outcome).toMatchObject(isVoid);
  });

  test('[G67] an approval is void if the tool was changed that a sub-agent asked for', async () => {
    const payers = scriptedModel((request) => (isFirstStep(request) ? { toolName: 'pay', input: {} } : 'Done.'));
    const gateway = await start({ models: { payers } });
    await gateway.api('/api/tools', paying('/asked-a'));
    const agentConfig = { model: 'payers', instructions: 'Pay.', tools: ['pay'] };
    const payer = { name: 'payer', executionType: 'gateway', execution: { agentConfig } };
    const agent = await agentWith(gateway, [payer]);
    gateway.calls = [{ toolName: 'payer' }];
    const call = (await gateway.runTurnLoop(agent)).at(-1) as Ended;
    expect(call.outcome).toMatchObject({ status: 'pending', kind: 'input' });
    gateway.calls = [];
    await patch(gateway, '/api/tools/pay', { execution: { url: `${site.url}/asked-b`, method: 'POST' } });
    const runs = await gateway.runsEnded(agent);
    const answer = { callId: call.callId, result: { approve: true } };
    await gateway.api(`/api/runs/${call.runId}/tool-results`, answer);
    await gateway.afterRuns(agent, runs + 1);
    expect(paidAt().filter((url) => url.startsWith('/asked'))).toEqual([]);
  });

  const coded = (description: string, answer: string) => ({
    pay: tool({ description, inputSchema: z.object({}), approval: true, execute: () => answer }),
  });
  test.each([
    [
      'void if a tool of the file that is data was changed',
      () => ({ pay: paying('/a') }),
      () => ({ pay: paying('/b') }),
      isVoid,
    ],
    [
      'void if a tool in TypeScript says something else of itself',
      () => coded('Pays.', '1'),
      () => coded('Gives.', '1'),
      isVoid,
    ],
    [
      'not void if only the code of a tool changed',
      () => coded('Pays.', '1'),
      () => coded('Pays.', '2'),
      { value: '2' },
    ],
  ])('[G67] an approval is %s before the gateway started again', async (_what, before, after, expected) => {
    const first = await start({ tools: before() as never });
    const agent = await agentWith(first, ['pay']);
    const call = await ask(first, agent);
    await gateways.pop()?.stop();
    const second = await start({ tools: after() as never });
    expect((await approve(second, agent, call))?.outcome).toMatchObject(expected);
  });

  test('[G67] an approval counts if the tool is again the same as when the approval was requested', async () => {
    const gateway = await start();
    await gateway.api('/api/tools', paying('/same'));
    const agent = await agentWith(gateway, ['pay']);
    const call = await ask(gateway, agent);
    await patch(gateway, '/api/tools/pay', { description: 'Pays twice.' });
    await patch(gateway, '/api/tools/pay', { description: 'Pays.' });
    expect((await approve(gateway, agent, call))?.outcome).toMatchObject({ status: 'ok' });
    expect(paidAt().filter((url) => url === '/same')).toHaveLength(1);
  });
});
