import { expect, test } from 'vitest';
import { createTool, updateTool } from '../../src/domain/tools/change-tool.ts';
import type { Store } from '../../src/ports/store/store.ts';
import type { RunTools } from '../../src/runtime/run/run-tool.ts';
import { THREAD_KINDS } from '../../src/runtime/threads/thread-kinds.ts';
import type { Registry } from '../../src/runtime/toolset/registry.ts';
import { type RunKey, setupsOf } from '../../src/runtime/toolset/run-setups.ts';
import { describeWorlds } from '../support/describe-worlds.ts';

const inputSchema = { type: 'object' };
const look = {
  name: 'look',
  description: 'Looks.',
  executionType: 'gateway',
  inputSchema,
  execution: { url: 'https://example.org' },
};
const other = { ...look, name: 'other' };
const isTaken = (): boolean => false;
const newRegistry = (): Registry => ({
  tools: {},
  agentLimits: { maxSteps: 7 },
  model: () => {
    throw new Error('No model.');
  },
});

let tools = 0;

describeWorlds('the cache of run set-ups', (open) => {
  async function opened() {
    const { store } = await open({});
    // The tests share a database.
    const name = `look${++tools}`;
    const { id } = await store.transaction((tx) => createTool(tx, { ...look, name }, { isTaken }));
    const registry = newRegistry();
    const setups = setupsOf(registry);
    const get = async (key: Partial<RunKey> = {}, agent = 'Bot') =>
      await setups.ofRun(store.db, setups.ofAgent(stored({ name: agent, instructions: '', tools: [name] })), {
        kind: THREAD_KINDS.agent,
        settings: undefined,
        toolsVersion: await versionOf(store),
        ...key,
      });
    return { store, id, name, registry, get };
  }

  test('equal keys have the same entry, also for agents with equal configurations, and so the same tools', async () => {
    const { name, get } = await opened();
    const setup = await get();
    expect(setup.registryTools[name]).toMatchObject({ name });
    expect(setup.limits.maxSteps).toBe(7);
    expect(await get()).toBe(setup);
    let made = 0;
    const make = () => ({ number: ++made }) as unknown as RunTools;
    expect(setup.tools(make)).toBe((await get()).tools(make));
    expect(made).toBe(1);
  });

  test('another configuration, kind of thread, setting or registry gives another entry', async () => {
    const { name, get, registry } = await opened();
    const kind = THREAD_KINDS.context;
    const all = [
      await get(),
      await get({}, 'Bob'),
      await get({ kind }),
      await get({ kind, settings: { tools: ['other'] } }),
      await get({ kind, settings: { isWithoutEffects: true } }),
      await get({ kind, settings: { clientTools: [{ name: 'mine' }] } }),
    ];
    expect(new Set(all).size).toBe(all.length);
    expect(await get({ kind, settings: { tools: ['other'] } })).toBe(all[3]);
    expect(all[3]?.config.tools).toEqual([name, 'other']);
    expect(setupsOf(newRegistry())).not.toBe(setupsOf(registry));
  });

  test('settings that do not change the tools share an entry', async () => {
    const { get } = await opened();
    const kind = THREAD_KINDS.context;
    expect(await get({ kind, settings: { instructions: 'Be brief.' } })).toBe(await get({ kind }));
  });

  test('a tool that changed replaces the entry, and a run keeps the one that it began with', async () => {
    const { store, id, name, get } = await opened();
    const before = await get();
    await store.transaction((tx) => updateTool(tx, id, { changes: { description: 'Looks again.' }, isTaken }));
    const after = await get();
    expect(after).not.toBe(before);
    expect(after.registryTools[name]).toMatchObject({ description: 'Looks again.' });
    expect(before.registryTools[name]).toMatchObject({ description: 'Looks.' });
    expect(await get()).toBe(after);
  });

  test('a tool that the configuration does not name keeps the entry', async () => {
    const { store, get } = await opened();
    const before = await get();
    await store.transaction((tx) => createTool(tx, other, { isTaken }));
    expect(await get()).toBe(before);
  });

  test('the store is read only when the registry has changed', async () => {
    const { store, get } = await opened();
    const before = await get();
    const toolsVersion = await versionOf(store);
    const closed = { selectFrom: () => expect.fail('The store was read.') } as never;
    const setups = setupsOf(newRegistry());
    expect(await get({ toolsVersion })).toBe(before);
    // A configuration that names no tool of the registry never needs it.
    const none = setups.ofAgent(stored({ name: 'Bot', instructions: '' }));
    const key = { kind: THREAD_KINDS.agent, settings: undefined, toolsVersion };
    expect((await setups.ofRun(closed, none, key)).registryTools).toEqual({});
  });

  test('one caller with ever new settings drops neither entries without settings nor those of other agents', async () => {
    const { get } = await opened();
    const kind = THREAD_KINDS.context;
    const settings = { tools: ['first'] };
    const [plain, first] = [await get({ kind }), await get({ kind, settings })];
    const ofOther = await get({ kind, settings }, 'Bob');
    for (let index = 0; index < 100; index++)
      await get({ kind, settings: { terminating: { toolIds: [`t${index}`] } } });
    expect(await get({ kind })).toBe(plain);
    expect(await get({ kind, settings }, 'Bob')).toBe(ofOther);
    expect(await get({ kind, settings })).not.toBe(first);
  });

  test('the tools that a model was offered are described once per list', async () => {
    const { get } = await opened();
    const setup = await get();
    const [one, two] = [[1], [2]];
    const texts = [one, one, two].map((tools) => setup.describe(tools, () => ({ hash: String(tools), text: '' })));
    expect(texts[1]).toBe(texts[0]);
    expect(texts.map(({ hash }) => hash)).toEqual(['1', '1', '2']);
  });
});

async function versionOf(store: Store): Promise<string | null> {
  const row = await store.db
    .selectFrom('settings')
    .select('value')
    .where('key', '=', 'tools_version')
    .executeTakeFirst();
  return row?.value ?? null;
}

const stored = (config: object) => ({ config: JSON.stringify(config), project_id: 'default' });
