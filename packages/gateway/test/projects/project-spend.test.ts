import { scriptedModel } from '@lastcall/core/testing';
import { startTestGateway } from '@lastcall/gateway/testing';
import { describe, expect, test } from 'vitest';
import { forAllTests } from '../support/for-all-tests.ts';
import { databases, locationOf } from '../support/stores.ts';

describe.each(databases)('spend limits of a project on $kind', ({ create }) => {
  const database = forAllTests(create);

  test('[K12] agents that could not run because of a limit of their project run when it changes', async () => {
    const model = scriptedModel(() => 'Yes.');
    const agents = [{ name: 'Clerk', instructions: 'Work.' }];
    await using gateway = await startTestGateway({ ...locationOf(database), model, agents, limits: { sweepMs: 50 } });
    const { api } = gateway;
    const [{ id }] = (await api('/api/agents')).items;
    const status = async () => (await api(`/api/agents/${id}`)).status;
    // The model has no price, so that this limit cannot be checked.
    await api('/api/projects/default', { spend: { perDay: 5 } }, { method: 'PATCH' });
    await api(`/api/agents/${id}/events`, { source: 'test', name: 'go' });
    await expect.poll(status).toBe('invalid');
    expect(model.requests).toHaveLength(0);

    await api('/api/projects/default', { spend: null }, { method: 'PATCH' });

    await expect.poll(() => model.requests.length).toBe(1);
    expect(await status()).toBe('active');
  });
});

test('[K12] a limit of a project or an agent in another currency is refused, because no agent with it could run', async () => {
  await using gateway = await startTestGateway({ currency: 'EUR' });
  const refused = async (path: string, body: object, method: string): Promise<string> => {
    const response = await gateway.request(path, body, { method });
    return ((await response.json()) as { error: { message: string } }).error.message;
  };
  const message = 'spend.currency must be EUR, the currency of the configuration, not USD.';
  const spend = { perDay: 5, currency: 'USD' };
  expect(await refused('/api/projects', { id: 'acme', spend }, 'POST')).toBe(message);
  expect(await refused('/api/projects/default', { spend }, 'PATCH')).toBe(message);
  expect(await refused('/api/projects/default', { spend: { perDay: 0 } }, 'PATCH')).toBe(
    'spend.perDay must be more than 0.',
  );
  const agent = { name: 'Bot', instructions: '', limits: { spend: { perRun: 1, currency: 'USD' } } };
  expect(await refused('/api/agents', agent, 'POST')).toContain(
    'limits.spend.currency is USD, and the prices of the configuration are in EUR.',
  );
  const kept = { perDay: 5, currency: 'EUR' };
  expect((await gateway.api('/api/projects', { id: 'acme', spend: kept })).spend).toEqual(kept);
});
