import { describe, expect, test } from 'vitest';
import { DEFAULT_AGENT_LIMITS } from '../../src/config/agent-limits.ts';
import { createGateway } from '../../src/gateway.ts';
import { defineAgent } from '../../src/index.ts';
import { openApi } from '../http/api.ts';
import { guards } from '../machines/guards.ts';
import { insertRun } from '../runs/rows.ts';
import { forAllTests, forEachTest } from '../support/for-all-tests.ts';
import { databases, locationOf, onSqlite } from '../support/stores.ts';
import { Browser } from './browser.ts';

describe.each(databases)('the status of the gateway on $kind', ({ create }) => {
  const database = forAllTests(create);
  const api = forAllTests(() => openApi(database));

  test('operators see what is set up and what waits, and people only the version and the model', async () => {
    const agent = await api.agent();
    const before = (await api.call('GET', '/api/status')).body;
    expect(before).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      model: {
        name: 'rehearsal',
        why: 'no key found',
        isRehearsal: true,
        howToSet: expect.stringMatching(/ANTHROPIC_API_KEY.* or .*npm install/),
      },
      gatewayId: 'gateway',
      store: 'unknown',
      problems: [],
      counts: { agents: 1, deadEvents: 0, waitingCalls: 0 },
    });
    await api.store.transaction(async (tx) => {
      const run = await insertRun(tx, { thread_id: agent, created_at: tx.now() });
      await tx.db
        .insertInto('inbox_events')
        .values({
          ...{ thread_id: agent, event_id: 'e1', type: 'service', priority: 1, payload: '{}' },
          ...{ status: 'dead', attempts: 5, available_at: 0, run_id: run, error: null, created_at: tx.now() },
        })
        .execute();
    });
    expect((await api.call('GET', '/api/status')).body.counts).toEqual({ agents: 1, deadEvents: 1, waitingCalls: 0 });
    const token = await api.tokenOf(await api.person());
    const told = await api.call('GET', '/api/status', { secret: token });
    expect(Object.keys(told.body)).toEqual(['version', 'model']);
    expect((await api.call('GET', '/api/models', { secret: token })).status).toBe(403);
    expect((await api.call('GET', '/api/status', { secret: null })).status).toBe(401);
    expect((await api.call('GET', '/api/models')).body).toEqual({ items: [{ name: 'rehearsal', usable: true }] });
  });
});

describe('a gateway that has started', () => {
  const database = forEachTest(onSqlite.create);

  const open = async (options: object) => {
    const gateway = createGateway({ port: 0, ...locationOf(database), env: {}, ...options, logLevel: 'silent' });
    await gateway.start();
    return gateway;
  };
  const browser = (url: string) => new Browser({ fetch, url });
  const config = {
    agents: [{ name: 'Clerk', instructions: 'You wait.', model: 'anthropic/claude' }],
    spaces: [
      { name: 'Empty', agents: ['Clerk'] },
      { name: 'Shop', agents: ['Clerk'], people: [{ name: 'Ada' }, { name: 'Ben' }] },
    ],
  };

  test('gives a link that signs in once, with all rights, for the first person of the configuration', async () => {
    const gateway = await open(config);
    const link = (await gateway.signInLink()) ?? '';
    expect(link).toMatch(new RegExp(`^${gateway.url}/#in=[\\w-]{43}$`));
    const page = browser(gateway.url);
    const code = link.split('#in=')[1];
    const signedIn = await page.call('POST', '/api/session', { code });
    expect(signedIn).toMatchObject({
      status: 201,
      body: { scopes: ['admin'], entity: { displayName: 'Ada' } },
    });
    expect((await browser(gateway.url).call('POST', '/api/session', { code })).status).toBe(401);
    const { body } = await page.call('GET', '/api/status');
    expect(body).toMatchObject({ store: expect.stringContaining('SQLite in'), counts: { agents: 1 } });
    expect(body.gatewayId).toMatch(/:\d+:/);
    expect(body.problems).toEqual([expect.stringContaining('ANTHROPIC_API_KEY')]);
    const models = (await page.call('GET', '/api/models')).body.items;
    expect(models[0]).toEqual({ name: 'rehearsal', usable: true });
    expect(models).toContainEqual({
      name: 'openai/gpt-5',
      usable: false,
      why: expect.stringContaining('OPENAI_API_KEY'),
    });
    await gateway.stop();
  });

  test('lists the definitions that agents may name, and says which of them are machines', async () => {
    const gateway = await open({ ...config, definitions: { clerk: defineAgent({ instructions: 'Wait.' }), guards } });
    const page = browser(gateway.url);
    await page.call('POST', '/api/session', { code: (await gateway.signInLink())?.split('#in=')[1] });
    expect((await page.call('GET', '/api/status')).body.definitions).toEqual([
      { name: 'clerk', machine: false },
      { name: 'guards', machine: true },
    ]);
    await gateway.stop();
  });

  test('shows the limits of an agent that sets none', async () => {
    const limits = { hopLimit: 3, inboxLength: 70, agent: { maxSteps: 7, inboxLength: 50 } };
    const gateway = await open({ ...config, limits });
    const page = browser(gateway.url);
    await page.call('POST', '/api/session', { code: (await gateway.signInLink())?.split('#in=')[1] });
    const { agentLimits } = (await page.call('GET', '/api/status')).body;
    expect(agentLimits).toEqual({ ...DEFAULT_AGENT_LIMITS, maxSteps: 7, hopLimit: 3, inboxLength: 50 });
    await gateway.stop();
  });

  test('prints a link without a person if the configuration has none, and no link outside of loopback', async () => {
    const alone = await open({ agents: [{ name: 'Clerk', instructions: 'You wait.' }] });
    const code = (await alone.signInLink())?.split('#in=')[1];
    const { body } = await browser(alone.url).call('POST', '/api/session', { code });
    expect(body).toMatchObject({ scopes: ['admin'] });
    expect(body.entity).toBeUndefined();
    await alone.stop();
    const open4All = await open({ host: '0.0.0.0' });
    expect(await open4All.signInLink()).toBeUndefined();
    await open4All.stop();
  });
});
