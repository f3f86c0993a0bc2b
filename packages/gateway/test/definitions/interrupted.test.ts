import { planningSection, section, slice, type ToolContext, tool } from '@lastcall/core';
import { prompt } from '@lastcall/core/prompt';
import { scriptedModel } from '@lastcall/core/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { checkDefinitions } from '../../src/config/definitions.ts';
import { answer } from '../../src/domain/calls/answer-call.ts';
import { readSession } from '../../src/domain/transcript/read-session.ts';
import { ToolCaches } from '../../src/runtime/toolset/tool-caches.ts';
import { disturb, goOn, type How } from '../support/disturbed-run.ts';
import { lobby } from '../support/lobby.ts';
import { resultsOf } from '../support/requests.ts';
import { type Database, embedded } from '../support/stores.ts';
import { waitingOf } from '../support/waiting-of.ts';
import type { When } from '../support/watched-store.ts';
import { openWorld, type World } from '../support/world.ts';

const ledger = slice('ledger', {
  initial: [] as readonly string[],
  on: { Noted: (lines, { line }: { type: 'Noted'; line: string }) => [...lines, line] },
});

/** An agent that uses a slice, a file, a section that it opens, a plan and an approval in two runs. */
function script() {
  const effects: string[] = [];
  /** Writes the same line to the session and to a file, which must never differ. */
  const write = async (line: string, { session, filesystem }: ToolContext): Promise<string> => {
    session.dispatch({ type: 'Noted', line });
    await filesystem.writeText('log.md', `${line}\n`, { mode: 'append' });
    return `${session.read(ledger).length} lines`;
  };
  const inputSchema = z.object({ line: z.string() });
  const note = tool({
    description: 'Notes.',
    inputSchema,
    effects: 'session',
    slices: [ledger],
    execute: ({ line }, context) => write(line, context),
  });
  const acts = (description: string, approval: boolean) =>
    tool({
      description,
      inputSchema,
      slices: [ledger],
      ...(approval ? { approval } : {}),
      async execute({ line }, context) {
        effects.push(`${context.toolName} ${context.toolCallId}`);
        return await write(line, context);
      },
    });
  const orders = section({
    key: 'orders',
    title: 'Orders',
    visibility: 'summary',
    summary: 'How to take orders.',
    template: 'Note each order.',
    tools: { note },
  });
  const definition = {
    instructions: prompt({ ns: 'shop', key: 'clerk', sections: [orders, planningSection()] }),
    tools: { charge: acts('Charges.', false), pay: acts('Pays.', true) },
    slices: [ledger],
    files: true as const,
  };
  // The model chooses each step by the results in its request, so a resumed run repeats no call. The last step needs the approval.
  const steps = [
    [{ toolName: 'open_sections', input: { keys: ['orders'] } }],
    [
      { toolName: 'planning_setup_plan', input: { objective: 'Sell', initial_steps: ['Charge', 'Pay'] } },
      { toolName: 'note', input: { line: 'chair' } },
    ],
    [
      { toolName: 'charge', input: { line: 'charged' } },
      { toolName: 'send_message', input: { text: 'Charged.' } },
    ],
    [{ toolName: 'pay', input: { line: 'paid' } }],
    [
      { toolName: 'planning_update_step', input: { step_id: 1, status: 'done' } },
      { toolName: 'note', input: { line: 'lamp' } },
      { toolName: 'send_message', input: { text: 'Paid.' } },
    ],
  ];
  const ends = steps.map((_step, index) => steps.slice(0, index + 1).flat().length);
  const model = scriptedModel((request) => {
    const done = resultsOf(request).length;
    const next = ends.findIndex((end) => end > done);
    const isAnswered = /\\n {2}approved/.test(JSON.stringify(request.prompt));
    return next === steps.length - 1 && !isAnswered ? 'Waiting.' : (steps[next] ?? 'Done.');
  });
  const definitions = checkDefinitions({ clerk: definition });
  if (!definitions.ok) throw new Error(definitions.problems[0]?.message);
  const registry = {
    tools: {},
    definitions: definitions.value,
    model: () => model,
    agentLimits: {},
    toolCaches: new ToolCaches(),
  };
  return { effects, registry };
}

/** An input may be stored as the text that the model wrote. */
function lineOf(input: unknown): string {
  return ((typeof input === 'string' ? JSON.parse(input) : input) as { line: string }).line;
}

describe.each(embedded)('an agent that uses everything at once on $kind', ({ create }) => {
  let database: Database;
  let world: World;
  beforeAll(async () => {
    database = await create();
    world = await openWorld({ database, models: {} });
  });
  afterAll(async () => {
    await world.stop();
    await database.remove();
  });

  /** A message starts the first run and an approval the second. One of the two is killed, or interrupted, at its n-th transaction. */
  async function disturbed(run: 1 | 2, at: number, when: When, how: How) {
    const { effects, registry } = script();
    const { ada, bot, space } = await lobby(world, { definition: 'clerk', instructions: '' }, { isIn: true });
    await world.say(space, ada, 'A chair and a lamp.');
    const kill = (): Promise<number> => disturb(world, registry, bot, { at, when, how });
    const first = run === 1 ? await kill() : 0;
    await goOn(world, registry, bot);
    const call = await waitingOf(world, bot);
    await answer(world.services, { ...call, answer: { approve: true }, by: { key: true } });
    const second = run === 2 ? await kill() : 0;
    for (let tries = 0; tries < 2; tries++) await goOn(world, registry, bot);
    return { transactions: first + second, effects, ...(await stateOf(bot, space)) };
  }

  async function stateOf(bot: string, space: string) {
    const { db } = world.store;
    const files = await db.selectFrom('files').select(['path', 'content']).where('thread_id', '=', bot).execute();
    const calls = await db
      .selectFrom('calls')
      .select(['tool_name', 'status', 'outcome_status', 'outcome', 'input'])
      .where('thread_id', '=', bot)
      .orderBy('created_at')
      .orderBy('step')
      .orderBy('index')
      .execute();
    const runs = await db.selectFrom('runs').select('status').where('thread_id', '=', bot).execute();
    const messages = await db
      .selectFrom('messages')
      .select(['kind', 'status', 'content'])
      .where('space_id', '=', space)
      .where('entity_id', '=', bot)
      .orderBy('seq')
      .execute();
    const isUnknown = ({ outcome }: { outcome: string | null }) => outcome?.includes('unknown_outcome') === true;
    const { ledger: lines, ...slices } = await readSession(db, bot);
    // The slice in which core records the tools that succeeded. It depends on the outcomes, which are compared separately.
    delete (slices as Record<string, unknown>)['lastcall.succeeded'];
    return {
      slices,
      lines: ((lines?.state ?? []) as readonly string[]).join('\n'),
      files: files.map(({ path, content }) => `${path}: ${(JSON.parse(content) as string).trim()}`),
      // The lines of calls that are known to have succeeded.
      written: calls
        .filter(({ tool_name, outcome_status }) => /^(note|charge|pay)$/.test(tool_name) && outcome_status === 'ok')
        .map(({ input }) => lineOf(JSON.parse(input)))
        .join('\n'),
      unknown: calls.filter(isUnknown).map(({ tool_name }) => tool_name),
      calls: calls.map((call) => `${call.tool_name} ${isUnknown(call) ? 'unknown' : call.outcome_status}`).sort(),
      unsettled: calls.filter(({ status }) => status !== 'settled').map(({ tool_name }) => tool_name),
      runs: runs.map(({ status }) => status),
      said: messages.filter(({ kind }) => kind === 'text').map(({ content }) => content),
      cards: messages.filter(({ kind }) => kind === 'tool').map(({ status }) => status),
    };
  }

  test.each([
    ['kill', 1],
    ['kill', 2],
    ['interrupt', 1],
    ['interrupt', 2],
  ] as const)(
    '[A4] [A8] [A11] [A12] stopped (%s) before and after every transaction of run %i: slices, files, plan, open sections, calls and messages are those of an undisturbed run, or one call has an unknown outcome and wrote nothing, and no effect happens twice',
    async (how, run) => {
      const whole = await disturbed(run, Number.POSITIVE_INFINITY, 'before', how);
      expect(whole).toMatchObject({
        lines: 'chair\ncharged\npaid\nlamp',
        files: ['log.md: chair\ncharged\npaid\nlamp'],
        unknown: [],
        unsettled: [],
        runs: ['completed', 'completed'],
        said: ['"Charged."', '"Paid."'],
        cards: ['complete', 'complete'],
      });
      expect(JSON.stringify(whole.slices)).toContain('orders');
      expect(JSON.stringify(whole.slices)).toContain('"objective":"Sell"');
      expect(whole.effects).toHaveLength(2);
      expect(whole.transactions).toBeGreaterThan(run === 1 ? 5 : 3);
      for (let at = 2; at <= whole.transactions; at++)
        for (const when of ['before', 'after'] as const) {
          const end = await disturbed(run, at, when, how);
          const where = `${when} transaction ${at} of run ${run}`;
          const { slices, runs, said, unsettled } = end;
          expect({ where, slices, runs, said, unsettled }).toEqual({
            ...{ where, slices: whole.slices, runs: whole.runs, said: whole.said, unsettled: [] },
          });
          // Session and files have the writes of exactly the calls that are known to have succeeded.
          expect([where, end.lines, end.files]).toEqual([where, end.written, [`log.md: ${end.written}`]]);
          expect([where, new Set(end.effects).size]).toEqual([where, end.effects.length]);
          if (end.unknown.length > 0) {
            // Only a call with external effects can be in doubt.
            expect([where, end.unknown]).toEqual([where, [run === 1 ? 'charge' : 'pay']]);
            expect([where, end.effects.length <= 2]).toEqual([where, true]);
          } else {
            expect([where, end.calls, end.lines, end.cards, end.effects.length]).toEqual([
              ...[where, whole.calls, whole.lines, whole.cards, 2],
            ]);
          }
        }
    },
  );
});
