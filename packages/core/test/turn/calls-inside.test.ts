import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  createSession,
  dispatchCall,
  type Journal,
  pending,
  rewindTool,
  runTurn,
  type ToolContext,
  type ToolSet,
  tool,
} from '../../src/index.ts';
import { fakeClock } from '../../src/testing/fake-clock.ts';
import { memoryJournal } from '../../src/testing/memory-journal.ts';
import { type ScriptedReply, scriptedModel } from '../../src/testing/scripted-model.ts';
import { sequentialIds } from '../../src/testing/sequential-ids.ts';

const none = z.object({});
const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const back = { toolName: 'rewind', input: { reason: 'wrong', guidance: 'again' } };

/** A tool that writes down that it acted, and that it was undone. */
function acting(done: string[], name: string, more: object = {}) {
  return tool({
    ...{ description: 'Acts.', inputSchema: none, ...more },
    execute: () => void done.push(name),
    compensate: () => void done.push(`not ${name}`),
  });
}

/** A tool that calls these, one after the other. */
function calling(tools: ToolSet, more: object = {}) {
  return tool({
    ...{ description: 'Calls.', effects: 'session' as const, inputSchema: none, ...more },
    async execute(_input, ctx) {
      for (const toolName of Object.keys(tools)) await dispatchCall({ tools, parent: ctx, call: { toolName } });
      return 'called';
    },
  });
}

async function rewound(tools: ToolSet, replies: readonly ScriptedReply[]) {
  const model = scriptedModel([...replies, back, 'Done.']);
  const all = { ...tools, rewind: rewindTool };
  const { settlements } = await runTurn({ model, prompt: 'Go.', tools: all, logger: quiet });
  return { end: settlements.at(-1)?.outcome, told: JSON.stringify(model.requests.at(-1)?.prompt.at(-1)) };
}

test('[R48] a call that acts itself and by calls inside it is recorded as started once', async () => {
  const done: string[] = [];
  const journal = memoryJournal();
  const charge = { charge: acting(done, 'charge'), refund: acting(done, 'refund') };
  const tools = { order: calling(charge, { effects: 'external' }), plan: calling(charge) };
  const model = scriptedModel([[{ toolName: 'order' }, { toolName: 'plan' }], 'Done.']);
  await runTurn({ model, prompt: 'Go.', tools, journal });
  expect(done).toEqual(['charge', 'refund', 'charge', 'refund']);
  expect(journal.entries.filter(({ kind }) => kind === 'started')).toHaveLength(2);
});

describe('a rewind past calls inside calls', () => {
  test('[R35] a tool with compensate undoes all that was done inside it, at any depth, and only it', async () => {
    const done: string[] = [];
    const undo = { compensate: () => void done.push('not order') };
    const order = calling({ charge: acting(done, 'charge') }, { effects: 'external', ...undo });
    await rewound({ plan: calling({ order }) }, [{ toolName: 'plan' }]);
    expect(done).toEqual(['charge', 'not order']);
  });

  test('[R35] the compensate of a tool that acts only by calls inside it is called too', async () => {
    const done: string[] = [];
    const order = calling({ charge: acting(done, 'charge') }, { compensate: () => void done.push('not order') });
    await rewound({ order }, [{ toolName: 'order' }]);
    expect(done).toEqual(['charge', 'not order']);
  });

  test('[R35] if the outer call did not finish, what was done inside it is undone, and the call is listed', async () => {
    const done: string[] = [];
    const clock = fakeClock();
    const order = tool({
      ...{ description: 'Orders.', inputSchema: none, timeoutMs: 100, compensate: () => void done.push('not order') },
      async execute(_input, ctx) {
        await dispatchCall({ tools: { charge: acting(done, 'charge') }, parent: ctx, call: { toolName: 'charge' } });
        await Promise.all([clock.advance(200), new Promise(() => {})]);
      },
    });
    const model = scriptedModel([{ toolName: 'order' }, back, 'Done.']);
    await runTurn({ model, prompt: 'Go.', tools: { order, rewind: rewindTool }, clock, logger: quiet });
    expect(done).toEqual(['charge', 'not charge']);
    expect(JSON.stringify(model.requests.at(-1)?.prompt)).toContain('- order {} (it did not finish');
  });

  test('[R35] calls of two turns inside one call are told apart, also if their ids are equal', async () => {
    const done: string[] = [];
    const agent = (name: string, replies: readonly ScriptedReply[]) => (ctx: ToolContext) =>
      ctx.runTurn({
        model: scriptedModel([{ toolName: name }, ...replies, 'Done.']),
        ...{ prompt: 'Work.', tools: { [name]: acting(done, name), rewind: rewindTool }, newId: sequentialIds() },
      });
    const plan = tool({
      ...{ description: 'Plans.', effects: 'session', inputSchema: none },
      async execute(_input, ctx) {
        await agent('one', [])(ctx);
        await agent('two', [back])(ctx);
      },
    });
    await rewound({ plan }, [{ toolName: 'plan' }]);
    expect(done).toEqual(['one', 'two', 'not two', 'not one']);
  });

  test.each([false, true])(
    '[R35] they are known when a turn is resumed on its session (forbids: %s)',
    async (forbids) => {
      const done: string[] = [];
      const pay = acting(done, 'pay', { forbidsRewind: forbids });
      const ask = tool({ description: 'Asks.', effects: 'none', inputSchema: none, execute: () => pending() });
      const options = {
        tools: { plan: calling({ pay }), ask, rewind: rewindTool },
        session: createSession(),
        logger: quiet,
      };
      const first = await runTurn({
        ...{ ...options, prompt: 'Go.', model: scriptedModel([{ toolName: 'plan' }, { toolName: 'ask' }]) },
      });
      const answers = { [first.pending[0]?.callId ?? '']: { result: 'yes' } };
      const model = scriptedModel([back, 'Done.']);
      const { settlements } = await runTurn({ ...options, model, transcript: first.transcript, answers });
      expect(settlements.at(-1)?.outcome.status).toBe(forbids ? 'error' : 'ok');
      expect(done).toEqual(forbids ? ['pay'] : ['pay', 'not pay']);
    },
  );

  test('[R35] a rewind is denied if a call inside acted in a process that has ended, because nothing is known of it', async () => {
    const done: string[] = [];
    const ask = tool({ description: 'Asks.', effects: 'none', inputSchema: none, execute: () => pending() });
    const tools = { plan: calling({ pay: acting(done, 'pay') }), ask, rewind: rewindTool };
    const journal = memoryJournal();
    const model = scriptedModel([{ toolName: 'plan' }, { toolName: 'ask' }]);
    const first = await runTurn({ model, prompt: 'Go.', tools, journal, session: createSession(), logger: quiet });
    const kept = journal.restore(createSession());
    const answers = { [first.pending[0]?.callId ?? '']: { result: 'yes' } };
    const next = await runTurn({
      ...kept,
      model: scriptedModel([back, 'Done.']),
      tools,
      journal,
      answers,
      logger: quiet,
    });
    expect(next.settlements.at(-1)?.outcome.text).toContain(
      'a call inside "plan" may have taken effect before the process ended',
    );
    expect(done).toEqual(['pay']);
  });
});

test('[R35] a call that began a job, waited and was answered is undone with its answer', async () => {
  const undone: unknown[] = [];
  const job = tool({
    ...{ description: 'Starts a job.', inputSchema: none, execute: () => pending() },
    compensate: (value) => void undone.push(value),
  });
  const options = { tools: { job, rewind: rewindTool }, session: createSession(), logger: quiet };
  const first = await runTurn({ ...options, prompt: 'Go.', model: scriptedModel([{ toolName: 'job' }]) });
  const answers = { [first.pending[0]?.callId ?? '']: { result: 'job 7' } };
  const model = scriptedModel([back, 'Done.']);
  await runTurn({ ...options, model, transcript: first.transcript, answers });
  expect(undone).toEqual(['job 7']);
  expect(JSON.stringify(model.requests.at(-1)?.prompt)).not.toContain('still stand');
});

describe('the journal and calls inside calls', () => {
  /** A journal that refuses starts. */
  const refusing = (refuse: () => never | Promise<never>): Journal => {
    const journal = memoryJournal();
    return {
      append: (entries) => (entries.some(({ kind }) => kind === 'started') ? refuse() : journal.append(entries)),
      settle: (entry, staged) => journal.settle(entry, staged),
    };
  };

  test.each([
    [
      'throws',
      () => {
        throw new Error('lost');
      },
    ],
    ['rejects', () => Promise.reject(new Error('lost'))],
  ] as const)(
    '[R49] if it %s at the start, the call does not run and the turn ends with its error, also if the tool catches it',
    async (_, refuse) => {
      const done: string[] = [];
      const plan = tool({
        ...{ description: 'Plans.', effects: 'session', inputSchema: none },
        async execute(_input, ctx) {
          const tools = { pay: acting(done, 'pay') };
          await dispatchCall({ tools, parent: ctx, call: { toolName: 'pay' } }).catch(() => {});
          return 'caught';
        },
      });
      const model = scriptedModel([{ toolName: 'plan' }, 'Done.']);
      const running = runTurn({
        model,
        prompt: 'Go.',
        tools: { plan },
        journal: refusing(refuse as never),
        logger: quiet,
      });
      await expect(running).rejects.toThrow('lost');
      expect(done).toEqual([]);
    },
  );

  test('[R48] an idempotent tool runs again after a crash, whatever a call inside it did', async () => {
    const keys: string[] = [];
    const plan = (ends: boolean) =>
      tool({
        ...{ description: 'Plans.', effects: 'session', idempotent: true, inputSchema: none },
        async execute(_input, ctx) {
          keys.push(ctx.idempotencyKey);
          await dispatchCall({ tools: { pay: acting([], 'pay') }, parent: ctx, call: { toolName: 'pay' } });
          if (!ends) throw new Error('The process ends here.');
          return 'planned';
        },
      });
    const journal = memoryJournal();
    const dying: Journal = {
      append: (entries) => journal.append(entries),
      settle: () => {
        throw new Error('dead');
      },
    };
    const model = scriptedModel([{ toolName: 'plan' }, 'Done.']);
    await runTurn({ model, prompt: 'Go.', tools: { plan: plan(true) }, journal: dying, logger: quiet }).catch(() => {});
    const kept = journal.restore(createSession());
    const { settlements } = await runTurn({
      ...kept,
      model: scriptedModel(['Done.']),
      tools: { plan: plan(true) },
      journal,
    });
    expect(settlements).toMatchObject([{ outcome: { status: 'ok', value: 'planned' } }]);
    expect(new Set(keys).size).toBe(1);
    expect(keys).toHaveLength(2);
  });

  test('a call that was refused is not said to have run, although its approval check made a call', async () => {
    const price = tool({ description: 'Price.', inputSchema: none, execute: () => 7 });
    const buy = tool({
      ...{ description: 'Buys.', inputSchema: none, execute: () => 'bought' },
      async approval(_input, ctx) {
        await dispatchCall({ tools: { price }, parent: ctx as never, call: { toolName: 'price' } });
        throw new Error('no rate');
      },
    });
    const model = scriptedModel([{ toolName: 'buy' }, 'Done.']);
    const { settlements } = await runTurn({ model, prompt: 'Go.', tools: { buy }, logger: quiet });
    expect(settlements[0]?.outcome.text).toBe('"buy" was denied: its approval check failed: Error: no rate');
  });
});
