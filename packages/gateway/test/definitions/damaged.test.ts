import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { slice, tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { charter, node, to } from '@lastcall/machines';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/index.ts';
import { startTestGateway, type TestGateway } from '../../src/testing/index.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { add_item, adding, cart } from './shop.ts';

/** The same slice as the shop's, in a newer version without `migrate`. */
const newer = slice('cart', {
  version: 2,
  initial: { items: [] as readonly string[] },
  on: { Added: (state, { item }: { type: 'Added'; item: string }) => ({ items: [...state.items, item] }) },
});

const newer_add = tool({
  description: 'Adds an item.',
  inputSchema: z.object({ item: z.string() }),
  effects: 'session',
  slices: [newer],
  execute({ item }, { session }) {
    session.dispatch({ type: 'Added', item });
    return 'Added.';
  },
});

const desk = (tools: { add_item: typeof add_item | typeof newer_add }) =>
  charter({
    nodes: {
      open: node({
        instructions: 'You are open.',
        tools,
        transitions: { close: { description: 'Closes.', targets: ['closed'], handler: () => to('closed') } },
      }),
      closed: node({ instructions: 'You are closed.', tools }),
    },
  });

const before = {
  machine: defineAgent({ machine: desk({ add_item }) }),
  clerk: defineAgent({ tools: { add_item }, slices: [cart] }),
  plain: defineAgent({ instructions: 'Be plain.', tools: { add_item }, slices: [cart] }),
};

/** The clerk's slice is outdated; the others are unchanged. */
const after = { ...before, clerk: defineAgent({ tools: { add_item: newer_add }, slices: [newer] }) };

const agents = [
  { name: 'Machine', definition: 'machine' },
  { name: 'Clerk', definition: 'clerk' },
  { name: 'Plain', definition: 'plain' },
];

type Ids = Readonly<Record<'Machine' | 'Clerk' | 'Plain', string>>;

async function idsOf(gateway: TestGateway): Promise<Ids> {
  const { items } = await gateway.api('/api/agents');
  return Object.fromEntries(items.map(({ id, name }: { id: string; name: string }) => [name, id])) as Ids;
}

async function pingAll(gateway: TestGateway, ids: Ids): Promise<void> {
  for (const id of Object.values(ids)) await gateway.api(`/api/agents/${id}/events`, { source: 'test', name: 'ping' });
}

const inboxOf = async (gateway: TestGateway, id: string, status: string): Promise<number> =>
  (await gateway.api(`/api/agents/${id}/inbox?status=${status}`)).items.length;

/** All rows of a thread that a run could overwrite. */
function storedOf(home: string, id: string): unknown {
  using db = new DatabaseSync(join(home, 'lastcall.db'), { readOnly: true });
  return [
    db.prepare('select state from threads where id = ?').all(id),
    // A run that fails adds only its input and its end.
    db.prepare('select seq, kind, payload from transcript_entries where thread_id = ? order by seq').all(id),
  ];
}

/** Each agent adds a chair; the machine also closes. */
async function firstRuns(home: string, consciousnessTokens?: number): Promise<Ids> {
  const model = scriptedModel(({ prompt }) => {
    const said = JSON.stringify(prompt.slice(1));
    if (!said.includes('"add_item"')) return adding('chair');
    const isOpen = String(prompt[0]?.content).includes('You are open.');
    return isOpen ? [{ toolName: 'transition_close', input: {} }] : 'Done.';
  });
  const limits = consciousnessTokens === undefined ? {} : { limits: { consciousnessTokens } };
  await using gateway = await startTestGateway({
    home,
    model,
    definitions: before,
    agents: agents.map((agent) => ({ ...agent, ...limits })),
  });
  const ids = await idsOf(gateway);
  await pingAll(gateway, ids);
  for (const id of Object.values(ids)) await expect.poll(() => inboxOf(gateway, id, 'done')).toBe(1);
  return ids;
}

const set = (home: string, sql: string, ...values: readonly string[]): void => {
  using db = new DatabaseSync(join(home, 'lastcall.db'));
  const { changes } = db.prepare(sql).run(...values);
  if (changes !== 1) throw new Error(`${changes} rows were changed: ${sql}`);
};

const LAST_CHANGE =
  'update transcript_entries set payload = ? where thread_id = ? and seq = (select max(seq) from transcript_entries where thread_id = ? and payload like \'%"also"%\')';

const DAMAGES: readonly (readonly [what: string, damage: (home: string, id: string) => void, names: string])[] = [
  ['a row that is no JSON', (home, id) => set(home, LAST_CHANGE, '{"entry": <machine', id, id), 'machine'],
  [
    'a row with a change that no machine makes',
    (home, id) => set(home, LAST_CHANGE, '{"entry":{"kind":"machine","change":{"kind":"melted"}}}', id, id),
    'melted',
  ],
  [
    'a row about an instance that does not exist',
    (home, id) =>
      set(
        home,
        LAST_CHANGE,
        '{"entry":{"kind":"machine","change":{"kind":"phased","id":"root.7","phase":"ready"}}}',
        ...[id, id],
      ),
    'root.7',
  ],
  [
    'a stored state that is no JSON',
    (home, id) => set(home, 'update threads set state = ? where id = ?', '{"seq": 1', id),
    'machine',
  ],
  [
    'a stored state of a machine without a tree',
    (home, id) =>
      set(
        home,
        'update threads set state = ? where id = ?',
        '{"seq":0,"session":null,"machine":{"version":1}}',
        ...[id],
      ),
    'tree',
  ],
];

it.each(DAMAGES)(
  '[A6] [A20] a machine with %s and an outdated slice make their agents invalid with one sentence, their events wait, nothing is overwritten, and the other agents go on',
  async (_what, damage, names) => {
    const home = await scratchFolder('damaged');
    const ids = await firstRuns(home);
    damage(home, ids.Machine);
    const stored = { Machine: storedOf(home, ids.Machine), Clerk: storedOf(home, ids.Clerk) };
    {
      const model = scriptedModel(() => 'Going on.');
      await using gateway = await startTestGateway({ home, model, definitions: after, agents });
      await pingAll(gateway, ids);
      await expect.poll(() => inboxOf(gateway, ids.Plain, 'done')).toBe(2);
      for (const name of ['Machine', 'Clerk'] as const) {
        const agent = async () => await gateway.api(`/api/agents/${ids[name]}`);
        await expect.poll(async () => (await agent()).status).toBe('invalid');
        const { lastError } = await agent();
        expect(JSON.stringify(lastError)).toContain(name === 'Machine' ? names : 'cart');
        expect(await inboxOf(gateway, ids[name], 'pending')).toBe(1);
        expect(await inboxOf(gateway, ids[name], 'dead')).toBe(0);
      }
      // Another event waits too, and no run is started for it.
      await pingAll(gateway, ids);
      await expect.poll(() => inboxOf(gateway, ids.Plain, 'done')).toBe(3);
      expect(await inboxOf(gateway, ids.Machine, 'pending')).toBe(2);
      const failed = (await gateway.api('/api/runs?status=failed')).items;
      expect(failed.map(({ agentId }: { agentId: string }) => agentId).sort()).toEqual([ids.Machine, ids.Clerk].sort());
      expect(model.requests).toHaveLength(2);
      expect((await gateway.api(`/api/agents/${ids.Plain}`)).status).toBe('active');
    }
    for (const name of ['Machine', 'Clerk'] as const) {
      const [state, rows] = storedOf(home, ids[name]) as [unknown, readonly unknown[]];
      const [oldState, oldRows] = stored[name] as [unknown, readonly unknown[]];
      expect(state).toEqual(oldState);
      expect(rows.slice(0, oldRows.length)).toEqual(oldRows);
    }
    // With their old definitions they continue: nothing is missing.
    {
      const model = scriptedModel(() => 'Going on.');
      await using gateway = await startTestGateway({ home, model, definitions: before, agents });
      await expect.poll(() => inboxOf(gateway, ids.Clerk, 'done')).toBe(3);
      expect((await gateway.api(`/api/agents/${ids.Clerk}/session`)).slices.cart.state).toEqual(['chair']);
    }
  },
);

it('[A6] an outdated slice of an instance of a machine makes the agent invalid with a sentence, and nothing is overwritten', async () => {
  const home = await scratchFolder('damaged');
  const ids = await firstRuns(home);
  const stored = storedOf(home, ids.Machine) as [unknown, readonly unknown[]];
  {
    const definitions = { ...before, machine: defineAgent({ machine: desk({ add_item: newer_add }) }) };
    const model = scriptedModel(() => 'Going on.');
    await using gateway = await startTestGateway({ home, model, definitions, agents });
    await pingAll(gateway, ids);
    await expect.poll(() => inboxOf(gateway, ids.Plain, 'done')).toBe(2);
    await expect.poll(async () => (await gateway.api(`/api/agents/${ids.Machine}`)).status).toBe('invalid');
    const { lastError } = await gateway.api(`/api/agents/${ids.Machine}`);
    expect(JSON.stringify(lastError)).toContain('cart');
    expect(await inboxOf(gateway, ids.Machine, 'pending')).toBe(1);
  }
  const [state, rows] = storedOf(home, ids.Machine) as [unknown, readonly unknown[]];
  expect(state).toEqual(stored[0]);
  expect(rows.slice(0, stored[1].length)).toEqual(stored[1]);
  const model = scriptedModel([adding('lamp'), 'Done.']);
  await using gateway = await startTestGateway({ home, model, definitions: before, agents });
  await expect.poll(() => inboxOf(gateway, ids.Machine, 'done')).toBe(2);
  expect(JSON.stringify(model.requests.at(-1)?.prompt)).toContain('2 in the cart');
});
