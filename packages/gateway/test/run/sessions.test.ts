import { type SessionEvent, type Slice, slice, tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { resumeAgent } from '../../src/domain/agents/pause-agent.ts';
import { updateAgent } from '../../src/domain/agents/update-agent.ts';
import { answer } from '../../src/domain/calls/answer-call.ts';
import { chatWith } from '../support/conversations.ts';
import { describeWorlds, type OpenWorld } from '../support/describe-worlds.ts';
import { type Lobby, lobby } from '../support/lobby.ts';
import { inboxOf, resultsOf, systemOf, textsOf } from '../support/requests.ts';
import { databases } from '../support/stores.ts';
import { waitingOf } from '../support/waiting-of.ts';
import type { World } from '../support/world.ts';

interface Added extends SessionEvent {
  readonly type: 'Added';
  readonly item: string;
}

const on = { Added: (items: readonly string[], { item }: Added) => [...items, item] };
const cart = slice<readonly string[]>('cart', { initial: [], on });

/** Writes to the slice, and registers it. */
const adding = (to: Slice<readonly string[]>, more: { approval?: boolean } = {}) =>
  tool({
    description: 'Adds an item.',
    inputSchema: z.object({ item: z.string() }),
    effects: 'session',
    slices: [to],
    ...more,
    execute({ item }, { session }) {
      session.dispatch<Added>({ type: 'Added', item });
      if (item === 'elephant') throw new Error('too heavy');
      return `has ${session.read(to).join(' ')}`;
    },
  });

/** Only reads the slice, and names it nowhere else. */
const looking = (at: Slice<readonly string[]>) =>
  tool({
    description: 'Looks into the cart.',
    inputSchema: z.object({}),
    effects: 'none',
    execute: (_input, { session }) => `sees ${session.read(at).join(' ')}`,
  });

/** Does what the newest message says: "add apple" calls the tool "add" with this item. `padding`: its final text. */
const obeying = (padding = '') =>
  scriptedModel(({ prompt }) => {
    if (systemOf({ prompt }).startsWith('You keep the memory')) return 'Things were bought.';
    const at = prompt.findLastIndex((message) => orderIn([message]) !== undefined);
    const [toolName = '', item] = orderIn(prompt.slice(at)) ?? [];
    const isDone = prompt.slice(at).some(({ role }) => role === 'tool');
    return isDone || toolName === '' ? `Done. ${padding}` : { toolName, input: item === undefined ? {} : { item } };
  });

/** The text of a message in a space, or of one in a chat. Other events contain no order. */
function orderIn(prompt: Parameters<typeof textsOf>[0]): readonly string[] | undefined {
  const [text] = textsOf(prompt);
  if (text?.startsWith('<inbox-') === true) return String(inboxOf({ prompt })[0]?.data.text ?? '').split(' ');
  return text === undefined || text.startsWith('<') ? undefined : text.split(' ');
}

/** The output of the last call. */
const lastResult = (model: ReturnType<typeof obeying>): string | undefined =>
  model.requests.flatMap((request) => resultsOf(request as never).slice(-1)).at(-1)?.text;

async function sayAll(world: World, { space, ada }: Lobby, ...texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    await world.say(space, ada, text);
    await world.idle();
  }
}

const failuresOf = async (world: World, bot: string) =>
  await world.store.db
    .selectFrom('inbox_events')
    .select(['status', 'attempts', 'error'])
    .where('thread_id', '=', bot)
    .where('status', '!=', 'done')
    .execute();

/** Another gateway, with other tools, continues with the same agents. */
async function replace(world: World, open: OpenWorld, options: Parameters<OpenWorld>[0]): Promise<World> {
  await world.stop();
  return await open(options);
}

describeWorlds(
  'a session',
  (open) => {
    test('[A4] [A5] writes of calls are kept in the next run, for a tool that only reads them, and on another gateway; those of failed calls are not', async () => {
      const model = obeying();
      const tools = { add: adding(cart), look: looking(cart) };
      const world = await open({ models: { default: model }, tools });
      const hall = await lobby(world, { tools: ['add', 'look'] }, { isIn: true });
      await sayAll(world, hall, 'add apple', 'add elephant', 'add pear', 'look');
      expect(lastResult(model)).toBe('sees apple pear');
      const other = await replace(world, open, { models: { default: model }, tools });
      await sayAll(other, hall, 'look');
      expect(lastResult(model)).toBe('sees apple pear');
      await sayAll(other, hall, 'add plum', 'look');
      expect(lastResult(model)).toBe('sees apple pear plum');
      expect(await failuresOf(other, hall.bot)).toEqual([]);
    });

    test('[A4] a call that was approved in a later run finds and keeps the state', async () => {
      const model = obeying();
      const tools = { add: adding(cart), pay: adding(cart, { approval: true }), look: looking(cart) };
      const world = await open({ models: { default: model }, tools });
      const hall = await lobby(world, { tools: Object.keys(tools) }, { isIn: true });
      await sayAll(world, hall, 'add apple', 'pay pear');
      const pending = await waitingOf(world, hall.bot);
      await answer(world.services, { ...pending, answer: { approve: true }, by: { entityId: hall.ada } });
      await world.idle();
      await sayAll(world, hall, 'look');
      expect(lastResult(model)).toBe('sees apple pear');
    });

    test('[A4] [A5] it survives any number of compactions, and no run fails because of them', async () => {
      const model = obeying('x'.repeat(1_500));
      const tools = { add: adding(cart), look: looking(cart) };
      const world = await open({ models: { default: model }, tools });
      const hall = await lobby(
        world,
        { tools: ['add', 'look'], limits: { consciousnessTokens: 1_500 } },
        { isIn: true },
      );
      const items = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'];
      for (const item of items) await sayAll(world, hall, `add ${item}`, 'look');
      const compactions = await world.store.db
        .selectFrom('transcript_entries')
        .select('seq')
        .where('thread_id', '=', hall.bot)
        .where('kind', '=', 'compaction')
        .execute();
      expect(compactions.length).toBeGreaterThan(2);
      const other = await replace(world, open, { models: { default: model }, tools });
      await sayAll(other, hall, 'look');
      expect(lastResult(model)).toBe(`sees ${items.join(' ')}`);
      expect(await failuresOf(other, hall.bot)).toEqual([]);
    });

    test('[A4] each chat context has its own', async () => {
      const model = obeying();
      const world = await open({ models: { default: model }, tools: { add: adding(cart), look: looking(cart) } });
      const [one, two] = [
        await chatWith(world, { tools: ['add', 'look'] }),
        await chatWith(world, { tools: ['add', 'look'] }),
      ];
      await one.say('add apple');
      await two.say('add pear');
      await one.say('look');
      expect(lastResult(model)).toBe('sees apple');
      await two.say('look');
      expect(lastResult(model)).toBe('sees pear');
    });

    test('[A6] a slice whose tool is gone is kept through compactions, and is used again when the tool is back', async () => {
      const model = obeying('x'.repeat(1_500));
      const notes = slice<readonly string[]>('notes', { initial: [], on });
      const tools = { add: adding(cart), look: looking(cart), note: adding(notes) };
      const world = await open({ models: { default: model }, tools });
      const hall = await lobby(world, { tools: ['add'], limits: { consciousnessTokens: 1_500 } }, { isIn: true });
      await sayAll(world, hall, 'add apple');
      const use = (...names: string[]) =>
        world.in((tx) => updateAgent(tx, { agentId: hall.bot, config: { tools: names } }));
      await use('note');
      await sayAll(world, hall, 'note a', 'note b', 'note c', 'note d', 'note e', 'note f');
      const state = await world.store.db
        .selectFrom('threads')
        .select('state')
        .where('id', '=', hall.bot)
        .executeTakeFirst();
      expect(JSON.parse(state?.state ?? '{}').session.slices.cart).toEqual({ version: 1, state: ['apple'] });
      await use('add', 'look');
      await sayAll(world, hall, 'add pear', 'look');
      expect(lastResult(model)).toBe('sees apple pear');
    });

    test('[A6] a newer version without migrate fails the run once and changes nothing; its events wait until there is one, then it migrates', async () => {
      const model = obeying();
      const world = await open({ models: { default: model }, tools: { add: adding(cart) } });
      const hall = await lobby(world, { tools: ['add'] }, { isIn: true });
      await sayAll(world, hall, 'add apple');

      const unready = slice<readonly string[]>('cart', { version: 2, initial: [], on });
      const second = await replace(world, open, { models: { default: model }, tools: { add: adding(unready) } });
      await sayAll(second, hall, 'add pear');
      expect(await failuresOf(second, hall.bot)).toEqual([
        {
          status: 'pending',
          attempts: 0,
          error: expect.stringMatching(/cart.*version 1.*version 2.*migrate\(state, fromVersion\)/),
        },
      ]);

      const migrate = (state: unknown, from: number): readonly string[] =>
        (state as string[]).map((item) => `${item}-of-v${from}`);
      const ready = slice<readonly string[]>('cart', { version: 2, initial: [], on, migrate });
      const third = await replace(second, open, {
        models: { default: model },
        tools: { add: adding(ready), look: looking(ready) },
      });
      await third.in((tx) => resumeAgent(tx, hall.bot));
      await third.idle();
      expect(lastResult(model)).toBe('has apple-of-v1 pear');
      await third.in((tx) => updateAgent(tx, { agentId: hall.bot, config: { tools: ['look'] } }));
      await sayAll(third, hall, 'look');
      expect(lastResult(model)).toBe('sees apple-of-v1 pear');
    });

    test('[A6] a tool that only reads such a slice fails the run in the same way, also if it catches the error', async () => {
      const model = obeying();
      const world = await open({ models: { default: model }, tools: { add: adding(cart) } });
      const hall = await lobby(world, { tools: ['add'] }, { isIn: true });
      await sayAll(world, hall, 'add apple');
      const unready = slice<readonly string[]>('cart', { version: 2, initial: [], on });
      const careless = tool({
        description: 'Looks, and takes an error for an empty cart.',
        inputSchema: z.object({}),
        execute(_input, { session }) {
          try {
            return session.read(unready);
          } catch {
            return 'empty';
          }
        },
      });
      const second = await replace(world, open, { models: { default: model }, tools: { add: careless } });
      await sayAll(second, hall, 'add');
      expect(await failuresOf(second, hall.bot)).toMatchObject([{ status: 'pending', attempts: 0 }]);
    });

    test('[A4] state that JSON cannot hold fails the call that wrote it, and later runs work', async () => {
      const model = obeying();
      const price = slice<number>('price', { initial: 0, on: { Added: () => Number.NaN } });
      const world = await open({
        models: { default: model },
        tools: {
          pay: tool({
            description: 'Pays.',
            inputSchema: z.object({}),
            effects: 'session',
            slices: [price],
            execute: (_input, { session }) => session.dispatch<Added>({ type: 'Added', item: '' }),
          }),
          look: looking(cart),
        },
      });
      const hall = await lobby(world, { tools: ['pay', 'look'] }, { isIn: true });
      await sayAll(world, hall, 'pay');
      expect(lastResult(model)).toContain('Slice "price" cannot be stored: it holds NaN');
      await sayAll(world, hall, 'look');
      expect(lastResult(model)).toBe('sees ');
    });

    test('a tool that writes a file gets an error that says that files are not kept here, and what to use', async () => {
      const model = obeying();
      const pay = tool({
        description: 'Pays.',
        inputSchema: z.object({}),
        effects: 'session',
        execute: async (_input, { filesystem }) => await filesystem.writeText('receipt.txt', 'paid'),
      });
      const world = await open({ models: { default: model }, tools: { pay } });
      await sayAll(world, await lobby(world, { tools: ['pay'] }, { isIn: true }), 'pay');
      expect(lastResult(model)).toMatch(
        /"receipt\.txt": files .* are not kept\. Give its definition files: true, keep state in a slice/,
      );
    });
  },
  databases,
);
