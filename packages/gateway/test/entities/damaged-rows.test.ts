import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { scriptedModel } from '@lastcall/core/testing';
import { startTestGateway, type TestGateway, waitFor } from '@lastcall/gateway/testing';
import { expect, test } from 'vitest';
import { scratchFolder } from '../support/scratch-folder.ts';

type Listed = { readonly id: string; readonly key?: string; readonly callId?: string };

const pick = (name: string) => ({ name, executionType: 'external', visible: false, resultSchema: { type: 'boolean' } });

/** Two of everything that is listed. Each agent has called a tool that waits for an answer. */
async function fill({ api }: TestGateway): Promise<void> {
  for (const name of ['Ann', 'Ben']) {
    await api('/api/tools', pick(`pick_${name.toLowerCase()}`));
    const { id } = await api('/api/agents', { name, instructions: 'Be kind.', tools: [`pick_${name.toLowerCase()}`] });
    await api('/api/spaces', { name });
    await api('/api/keys', { name, scopes: ['chat'] });
    for (const key of ['one', 'two'])
      await api(`/api/agents/${id}/plans`, { key, name: key, instruction: 'Look.', after: 'P1D' });
    await api(`/api/agents/${id}/events`, { source: 'test', name: 'ping' });
  }
  await waitFor(async () => (await api('/api/pending')).items.length === 2);
}

const model = () =>
  scriptedModel(({ prompt, tools }) => {
    if (prompt.some(({ role }) => role === 'tool')) return 'Done.';
    const { name = '' } = tools?.find((one) => one.name.startsWith('pick_')) ?? {};
    return [{ toolName: name, input: {} }];
  });

const LISTS: readonly (readonly [path: string, table: string, column: string])[] = [
  ['/api/agents', 'agents', 'config'],
  ['/api/tools?source=api', 'tools', 'config'],
  ['/api/spaces', 'spaces', 'metadata'],
  ['/api/entities', 'entities', 'metadata'],
  ['/api/runs', 'runs', 'trigger'],
  ['/api/pending', 'calls', 'input'],
  ['/api/keys', 'api_keys', 'scopes'],
  ['/api/agents/AGENT/plans', 'plans', 'name'],
];

test('a list with a damaged row has all others, names the damaged one, and says what to do', async () => {
  const home = await scratchFolder('damaged-rows');
  await using gateway = await startTestGateway({ home, model: model() });
  await fill(gateway);
  using database = new DatabaseSync(join(home, 'lastcall.db'));
  for (const [path, table, column] of LISTS) {
    const agentId = (await gateway.api('/api/agents')).items.at(-1).id;
    const at = path.replace('AGENT', agentId);
    const before: Listed[] = (await gateway.api(at)).items;
    const { id } = before[0] ?? {};
    const callId = before[0]?.callId ?? id ?? '';
    const { value } = database.prepare(`select ${column} as value from ${table} where id = ?`).get(callId) ?? {};
    const write = database.prepare(`update ${table} set ${column} = ? where id = ?`);
    write.run('{"a', callId);
    const { items, damaged } = await gateway.api(at);
    expect(items).toHaveLength(before.length - 1);
    const named = before[0]?.key ?? callId;
    expect(damaged, path).toEqual([
      {
        id: named,
        problem: expect.stringMatching(
          /^The row of ".+" is damaged and left out: stop the gateway and restore a backup\.$/,
        ),
      },
    ]);
    write.run(String(value), callId);
    expect((await gateway.api(at)).items).toEqual(before);
  }
});

test('pages go on after a damaged row', async () => {
  const home = await scratchFolder('damaged-rows');
  await using gateway = await startTestGateway({ home, model: model() });
  await fill(gateway);
  using database = new DatabaseSync(join(home, 'lastcall.db'));
  for (const table of ['agents', 'tools']) {
    database.exec(`update ${table} set config = '{"a' where id = (select min(id) from ${table})`);
    const path = `/api/${table}?limit=1${table === 'tools' ? '&source=api' : ''}`;
    const first = await gateway.api(path);
    expect(first.items).toEqual([]);
    expect((await gateway.api(`${path}&cursor=${first.next}`)).items).toHaveLength(1);
  }
});

test('a request for a damaged agent says that it is damaged and what to do', async () => {
  const home = await scratchFolder('damaged-rows');
  await using gateway = await startTestGateway({ home, model: model() });
  await fill(gateway);
  const { id } = (await gateway.api('/api/agents')).items[0];
  using database = new DatabaseSync(join(home, 'lastcall.db'));
  database.prepare(`update agents set config = '{"a' where id = ?`).run(id);
  const { error } = await gateway.api(`/api/agents/${id}`);
  expect(error.message).toMatch(/damaged in the database\. Stop the gateway and restore a backup\. The log has/);
});

test('[G62] a start replaces the damaged configuration and the damaged plans of an agent by those of the file', async () => {
  const home = await scratchFolder('damaged-rows');
  const start = () =>
    startTestGateway({
      home,
      model: model(),
      agents: [{ name: 'Ann', instructions: 'Be kind.' }],
      plans: [{ agent: 'Ann', key: 'look', instruction: 'Look.', cron: '0 9 * * *' }],
    });
  const first = await start();
  const before = (await first.api('/api/agents')).items[0];
  await first.stop();
  using database = new DatabaseSync(join(home, 'lastcall.db'));
  database.exec(`update agents set config = '{"name":"An'`);
  database.exec(`update plans set name = '"lo'`);
  database.close();
  await using second = await start();
  const { items } = await second.api('/api/agents');
  expect(items).toMatchObject([{ id: before.id, config: before.config, configVersion: before.configVersion + 1 }]);
  expect((await second.api(`/api/agents/${before.id}/plans`)).items).toMatchObject([{ name: 'look', setBy: 'file' }]);
});
