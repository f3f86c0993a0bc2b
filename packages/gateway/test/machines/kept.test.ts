import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { charter, node, spawn, suspend } from '@lastcall/machines';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/index.ts';
import { startTestGateway, type TestGateway } from '../../src/testing/index.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

/** How often the state of a worker was checked: once for each, when a machine is restored. */
let checked = 0;
const WORKERS = 20;

beforeEach(() => {
  checked = 0;
});

const add = tool({ description: 'Adds.', inputSchema: z.object({}), effects: 'none', execute: () => 'Added.' });
const worker = node({
  worker: true,
  instructions: 'You are a worker.',
  state: z.object({ mark: z.string().refine(() => ++checked > 0) }),
  transitions: { ask: { description: 'Asks.', handler: () => suspend('May I?') } },
});
const talker = node({ instructions: 'You are the talker.', tools: { add } });
const lead = node({
  instructions: 'You are the lead.',
  transitions: {
    hire: {
      description: 'Hires.',
      targets: ['talker', 'worker'],
      handler: () => {
        const workers = Array.from({ length: WORKERS }, (_, index) => ({
          node: 'worker',
          state: { mark: `${index}` },
        }));
        return spawn(['talker', ...workers] as never);
      },
    },
  },
});
const definitions = { company: defineAgent({ machine: charter({ nodes: { lead, talker, worker } }) }) };

/** The talker adds in each run, and then replies this. */
const saying = (text: string) => {
  const steps = scriptedModel(({ prompt }) => {
    const system = String(prompt[0]?.content);
    if (system.startsWith('You are the lead.')) return [{ toolName: 'transition_hire', input: {} }];
    if (system.startsWith('You are a worker.')) return [{ toolName: 'transition_ask', input: {} }];
    return prompt.at(-2)?.role === 'tool' ? text : [{ toolName: 'add', input: {} }];
  });
  const summary = scriptedModel(() => 'They added.');
  return { ...steps, doGenerate: summary.doGenerate, requests: steps.requests };
};

/** Sends an event, and waits until so many runs have ended. */
async function ping(gateway: TestGateway, id: string, runs: number): Promise<void> {
  await gateway.api(`/api/agents/${id}/events`, { source: 'test', name: 'go' });
  const ended = async () => (await gateway.api('/api/runs')).items.filter((run: { endedAt?: number }) => run.endedAt);
  await expect.poll(ended).toHaveLength(runs);
}

const compactionsIn = (home: string, id: string): readonly string[] => {
  using db = new DatabaseSync(join(home, 'lastcall.db'), { readOnly: true });
  const rows = db.prepare("select payload from transcript_entries where thread_id = ? and kind = 'compaction'").all(id);
  return rows.map(({ payload }) => String(payload));
};

describe('a machine with instances that wait', () => {
  it('[A21] is kept from run to run, so that they are not read again, and another gateway finds the same machine', async () => {
    const home = await scratchFolder('kept');
    const agents = [{ name: 'Company', definition: 'company' }];
    let id = '';
    let shown: object = {};
    {
      await using gateway = await startTestGateway({ home, model: saying('Done.'), definitions, agents });
      [{ id }] = (await gateway.api('/api/agents')).items;
      await ping(gateway, id, 1);
      await ping(gateway, id, 2);
      checked = 0;
      for (let runs = 3; runs <= 6; runs++) await ping(gateway, id, runs);
      expect(checked).toBe(0);
      shown = await gateway.api(`/api/agents/${id}/machine`);
    }
    const model = saying('Done.');
    await using gateway = await startTestGateway({ home, model, definitions, agents });
    expect(await gateway.api(`/api/agents/${id}/machine`)).toEqual(shown);
    await ping(gateway, id, 7);
    const said = JSON.stringify(model.requests.at(-1)?.prompt);
    expect(said.match(/"Added\."/g)).toHaveLength(6);
    expect((await gateway.api('/api/pending')).items).toHaveLength(WORKERS);
  });

  it('[A21] is stored as a whole only in its last two compactions, and not in the row that each claim writes', async () => {
    const home = await scratchFolder('kept');
    const agents = [{ name: 'Company', definition: 'company', limits: { consciousnessTokens: 2_000 } }];
    const model = saying('word '.repeat(1_000));
    await using gateway = await startTestGateway({ home, model, definitions, agents });
    const [{ id }] = (await gateway.api('/api/agents')).items;
    for (let runs = 1; runs <= 8; runs++) await ping(gateway, id, runs);
    await expect.poll(() => compactionsIn(home, id).length).toBeGreaterThanOrEqual(3);
    const whole = compactionsIn(home, id).map((payload) => 'machine' in JSON.parse(payload));
    expect(whole).toEqual(whole.map((_one, index) => index >= whole.length - 2));
    using db = new DatabaseSync(join(home, 'lastcall.db'), { readOnly: true });
    const { state } = db.prepare('select state from threads where id = ?').get(id) as { state: string };
    expect(state.length).toBeLessThan(100);
    expect((await gateway.api(`/api/agents/${id}/machine`)).waiting).toHaveLength(WORKERS);
    expect(JSON.stringify(model.requests.at(-1)?.prompt)).toContain('They added.');
    expect((await gateway.api(`/api/agents/${id}/transcript`)).error).toBeUndefined();
  });
});
