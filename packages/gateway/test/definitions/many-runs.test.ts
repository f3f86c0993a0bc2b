import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createSession, planningSection, runTurn, section, slice, tool } from '@lastcall/core';
import { memoryFilesystem } from '@lastcall/core/files';
import { prompt } from '@lastcall/core/prompt';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/index.ts';
import { startTestGateway } from '../../src/testing/index.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { LONG, withSummaries } from './shop.ts';

/** The last run comes after a compaction, and opens the section again. */
const RUNS = 301;

const sums = slice('sums', {
  initial: { count: 0, sum: 0, last: [] as readonly number[] },
  on: {
    Counted: ({ count, sum, last }, { number }: { type: 'Counted'; number: number }) => ({
      count: count + 1,
      sum: sum + number,
      last: [...last, number].slice(-5),
    }),
  },
});

const count = tool({
  description: 'Counts a number. Refuses multiples of seven.',
  inputSchema: z.object({ number: z.number() }),
  effects: 'session',
  slices: [sums],
  async execute({ number }, { session, filesystem }) {
    session.dispatch({ type: 'Counted', number });
    await filesystem.writeText('last.md', `${session.read(sums).last.join('\n')}\n`);
    // Its writes so far are rolled back.
    if (number % 7 === 0) throw new Error('Not this one.');
    return session.read(sums).count;
  },
});

const numbers = section({
  key: 'numbers',
  title: 'Numbers',
  visibility: 'summary',
  summary: 'How to count.',
  template: 'Count each number once.',
  tools: { count },
});

const definition = defineAgent({
  instructions: prompt({ ns: 'numbers', key: 'counter', sections: [numbers, planningSection()] }),
  slices: [sums],
  files: true,
});

/** The replies of the model in all runs. In every tenth run the reply is so long that the transcript is compacted afterwards. */
const script = Array.from({ length: RUNS }, (_, index) => index + 1).flatMap((number) => {
  const opening = { toolName: 'open_sections', input: { keys: ['numbers'] } };
  const planning =
    number % 50 === 1
      ? { toolName: 'planning_setup_plan', input: { objective: `From ${number}`, initial_steps: ['a', 'b'] } }
      : { toolName: 'planning_update_step', input: { step_id: 1 + (number % 2), title: `Step of ${number}` } };
  return [
    ...(number % 10 === 1 ? [[opening]] : []),
    [planning, { toolName: 'count', input: { number } }],
    number % 10 === 0 ? LONG.repeat(4) : 'Counted.',
  ];
});

/** Leaves out how often the last run opened sections: in the library they are still open, because nothing was compacted. */
function withoutOpenings(slices: Readonly<Record<string, { readonly state: unknown }>>): object {
  const { 'lastcall.opened-sections': opened, ...others } = slices;
  return { ...others, opened: (opened?.state as { readonly keys: unknown } | undefined)?.keys };
}

it('[A4] [A8] [A11] [A12] after 300 runs with a compaction every ten, session and files are those of an uninterrupted run of the library', async () => {
  const files = memoryFilesystem();
  const session = createSession({ slices: [sums], filesystem: files, keepOpenedSections: true });
  const model = scriptedModel(script);
  for (let run = 0; run < RUNS; run++)
    await runTurn({ model, session, instructions: definition.instructions as never, prompt: 'Go.' });
  const { slices: expected } = session.toJSON();
  expect(expected.sums?.state).toMatchObject({ count: RUNS - Math.floor(RUNS / 7) });

  const home = await scratchFolder('many-runs');
  await using gateway = await startTestGateway({
    home,
    model: withSummaries(scriptedModel(script)),
    definitions: { counter: definition },
    agents: [{ name: 'Counter', definition: 'counter', limits: { consciousnessTokens: 8_000, eventsPerCycle: 1 } }],
  });
  const [{ id }] = (await gateway.api('/api/agents')).items;
  const post = async (): Promise<void> => {
    const sent = await gateway.request(`/api/agents/${id}/events`, { source: 'test', name: 'go' });
    if (!sent.ok) throw new Error(await sent.text());
  };
  for (let left = RUNS; left > 0; left -= 50) await Promise.all(Array.from({ length: Math.min(50, left) }, post));
  using db = new DatabaseSync(join(home, 'lastcall.db'), { readOnly: true });
  const countOf = (sql: string): number => (db.prepare(sql).get(id) as { count: number }).count;
  await expect
    .poll(() => countOf("select count(*) as count from runs where thread_id = ? and status = 'completed'"), {
      timeout: 200_000,
      interval: 200,
    })
    .toBe(RUNS);
  expect(withoutOpenings((await gateway.api(`/api/agents/${id}/session`)).slices)).toEqual(withoutOpenings(expected));
  expect((await gateway.api(`/api/agents/${id}/files/last.md`)).content).toBe(await files.readText('last.md'));
  const compactions = countOf(
    "select count(*) as count from transcript_entries where thread_id = ? and kind = 'compaction'",
  );
  expect(compactions).toBeGreaterThanOrEqual(30);
});
