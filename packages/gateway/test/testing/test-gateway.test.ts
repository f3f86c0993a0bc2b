import { access, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptedModel } from '@lastcall/core/testing';
import { startTestGateway, waitFor } from '@lastcall/gateway/testing';
import { expect, test } from 'vitest';

test('a test gateway answers over HTTP with its secret key, and refuses any other', async () => {
  await using gateway = await startTestGateway({ secretKey: 'a-key-of-your-choice' });
  expect(gateway.secretKey).toBe('a-key-of-your-choice');

  const space = await gateway.api('/api/spaces', { name: 'Lobby' });
  expect((await gateway.api('/api/spaces')).items).toMatchObject([space]);
  const { id } = await gateway.api('/api/agents', { name: 'Watcher', instructions: 'Watch.' });
  const changed = await gateway.api(`/api/agents/${id}`, { name: 'Warden' }, { method: 'PATCH' });
  expect(changed.config.name).toBe('Warden');

  const refused = await gateway.request('/api/spaces', undefined, { key: 'a-key-nobody-has' });
  expect(refused.status).toBe(401);
});

test('an agent of a test gateway uses the given model', async () => {
  const model = scriptedModel(['Noted.']);
  await using gateway = await startTestGateway({ model, agents: [{ name: 'Watcher', instructions: 'Watch.' }] });
  const [{ id }] = (await gateway.api('/api/agents')).items;
  await gateway.api(`/api/agents/${id}/events`, { source: 'shop', name: 'opened' });
  const run = await waitFor(async () => {
    const [first] = (await gateway.api(`/api/runs?agentId=${id}`)).items;
    return first?.status === 'completed' && first;
  });
  expect(run.stop).toEqual({ reason: 'end_turn', by: 'text' });
  expect(model.requests).toHaveLength(1);
});

test('each test gateway of a process has a separate database, which only its owner may read', async () => {
  await using first = await startTestGateway();
  await using second = await startTestGateway();
  await using third = await startTestGateway();
  await second.api('/api/spaces', { name: 'Lobby' });
  for (const { api } of [first, third]) expect((await api('/api/spaces')).items).toEqual([]);
  const { mode } = await stat(join(third.home, 'lastcall.db'));
  expect(mode & 0o777).toBe(0o600);
});

test('a test gateway that stops removes its folder, also when it is stopped twice', async () => {
  const gateway = await startTestGateway();
  await access(gateway.home);
  await gateway.stop();
  await gateway.stop();
  await expect(access(gateway.home)).rejects.toThrow('ENOENT');
  await expect(fetch(gateway.url)).rejects.toThrow();
});

test('a test gateway on a given folder keeps it, and the next one continues there', async () => {
  const home = await mkdtemp(join(tmpdir(), 'lastcall-own-'));
  try {
    const first = await startTestGateway({ home });
    await first.api('/api/spaces', { name: 'Lobby' });
    await first.stop();
    await using second = await startTestGateway({ home });
    expect((await second.api('/api/spaces')).items).toMatchObject([{ name: 'Lobby' }]);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
});

test('a test gateway with a wrong configuration gives the same error as any gateway', async () => {
  await expect(startTestGateway({ agents: [{ name: '', instructions: 'Watch.' }] })).rejects.toThrow('agents[0].name');
});

test('waitFor gives up with an error that says how long it waited', async () => {
  await expect(waitFor(() => undefined, { timeoutMs: 1 })).rejects.toThrow('still no value after 1 ms');
});
