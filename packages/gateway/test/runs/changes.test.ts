import { slice, type ToolContext, tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { type RunEntry, runTranscript } from '../../src/domain/runs/run-transcript.ts';
import { runStream } from '../../src/domain/streams/stream-names.ts';
import { toCallChanges } from '../../src/runtime/journal/call-changes.ts';
import { KnownSecrets } from '../../src/telemetry/known-secrets.ts';
import { chatApi } from '../chat/chat-api.ts';
import { toRequest } from '../http/api.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import type { World } from '../support/world.ts';

const inputSchema = z.object({}).loose();
const booked = slice<number>('booked', { initial: 0, on: { booked: (count) => count + 1 } });

function book({ session }: ToolContext): void {
  session.register(booked);
  session.dispatch({ type: 'booked', seat: 'A1' } as { type: string });
  session.dispatch({ type: 'booked', seat: 'A2' } as { type: string });
}

const fine = tool({
  description: 'Books.',
  inputSchema,
  execute(_input, ctx) {
    book(ctx);
    return 'booked';
  },
});
const broken = tool({
  description: 'Books and fails.',
  inputSchema,
  execute(_input, ctx) {
    book(ctx);
    throw new Error('The hall is closed.');
  },
});
const idle = tool({ description: 'Does nothing.', inputSchema, execute: () => 'nothing' });
const tools = { fine, broken, idle };

const BOOKED = [{ kind: 'event', name: 'booked', count: 2, sample: { type: 'booked', seat: 'A1' } }];

async function lastRun({ store }: World, agentId: string): Promise<string> {
  const row = store.db.selectFrom('runs').select('id').where('thread_id', '=', agentId).orderBy('id', 'desc').limit(1);
  return (await row.executeTakeFirstOrThrow()).id;
}

const nameOf = ({ entry }: RunEntry): string =>
  (entry as { settlement?: { toolName: string } }).settlement?.toolName ?? '';

describeWorlds('the changes of calls', (open) => {
  test('the transcript and the stream have with the end of a call what it committed and what was rolled back', async () => {
    const names = ['fine', 'broken', 'idle'];
    const model = scriptedModel([{ calls: names.map((toolName) => ({ toolName, input: {} })) }, 'Done.']);
    const world = await open({ models: { default: model }, tools });
    const { ada, bot, space } = await lobby(world, { tools: names });
    await world.say(space, ada, 'Book.');
    await world.idle();
    const runId = await lastRun(world, bot);
    const { items } = await runTranscript(world.store.db, runId);
    const told = items.filter(({ kind }) => kind === 'settled').map((item) => [nameOf(item), item.changes]);
    expect(told).toEqual([
      ['fine', { committed: BOOKED, discarded: [] }],
      ['broken', { committed: [], discarded: BOOKED }],
      ['idle', undefined],
    ]);
    const ends = (await world.events(runStream(runId))).filter(({ type }) => /^tool-call\.(complete|error)/.test(type));
    expect(ends.map(({ payload }) => (payload as { changes?: unknown }).changes)).toEqual(told.map(([, one]) => one));
  });

  test('messages, spaces, goals, memories and plans that a call wrote are among its changes', async () => {
    const model = scriptedModel([
      {
        calls: [
          { toolName: 'send_message', input: { text: 'Hello, all.' } },
          { toolName: 'set_goals', input: { goals: [{ key: 'g', description: 'Be kind.' }] } },
          { toolName: 'set_memories', input: { memories: [{ key: 'm', value: 'Ada likes tea.' }] } },
          { toolName: 'set_plans', input: { plans: [{ name: 'Tea', instruction: 'Make tea.', after: 'PT1H' }] } },
        ],
      },
      { toolName: 'delete_goals', input: { keys: ['g'] } },
      'Done.',
    ]);
    const world = await open({ models: { default: model } });
    const { ada, bot, space } = await lobby(world, {}, { isIn: true });
    await world.say(space, ada, 'Hello.');
    await world.idle();
    const { items } = await runTranscript(world.store.db, await lastRun(world, bot));
    const committed = Object.fromEntries(items.map((item) => [nameOf(item), item.changes?.committed]));
    expect(committed).toMatchObject({
      send_message: [{ kind: 'message', name: space, count: 1, sample: 'Hello, all.' }],
      set_goals: [{ kind: 'goal', name: 'g', count: 1, sample: { description: 'Be kind.' } }],
      set_memories: [{ kind: 'memory', name: 'm', count: 1, sample: { value: 'Ada likes tea.' } }],
      set_plans: [{ kind: 'plan', count: 1, sample: { name: 'Tea', instruction: 'Make tea.' } }],
      delete_goals: [{ kind: 'goal', name: 'g', count: 1, sample: 'deleted' }],
    });
  });

  test('changes of the session are shown to keys, and not to a person who chats with a token', async () => {
    const model = scriptedModel([{ toolName: 'fine', input: {} }, 'Done.', { toolName: 'fine', input: {} }, 'Done.']);
    const world = await open({ models: { default: model }, tools });
    const api = await chatApi(world);
    const agent = await api.agent('Bot', { tools: ['fine'] });
    const ada = await api.person('Ada');
    await api.space(ada, agent);
    const streamed = async (secret: string): Promise<string> => {
      const headers = { accept: 'text/event-stream' };
      const body = { agent, message: 'Book.' };
      return await (await api.app.fetch(toRequest('POST', '/chat', { body, secret, headers }))).text();
    };
    const [hers, operators] = [await streamed(await api.tokenOf(ada)), await streamed(api.key)];
    for (const stream of [hers, operators]) expect(stream).toContain('event: tool-call.complete');
    expect(operators).toContain('"seat":"A1"');
    expect(hers).not.toContain('A1');
    api.app.stop();
  });

  test('[G63] the frame tag is in no sample of the changes of a call', async () => {
    const note = tool({
      description: 'Notes what it was shown.',
      inputSchema,
      execute(_input, { session, messages }) {
        session.register(booked);
        session.dispatch({ type: 'booked', seen: JSON.stringify(messages) } as { type: string });
      },
    });
    const world = await open({ models: { default: scriptedModel([{ toolName: 'note' }, 'Done.']) }, tools: { note } });
    const { ada, bot, space } = await lobby(world, { tools: ['note'] });
    await world.say(space, ada, 'Hello.');
    await world.idle();
    const runId = await lastRun(world, bot);
    const { tag } = await world.store.db
      .selectFrom('agents')
      .select('tag')
      .where('id', '=', bot)
      .executeTakeFirstOrThrow();
    const seen = JSON.stringify([await runTranscript(world.store.db, runId), await world.events(runStream(runId))]);
    expect(seen).toContain('inbox-hidden');
    expect(seen).not.toContain(tag);
    // A cut sample does not have a part of it either.
    expect(seen).not.toContain(tag.slice(0, 8));
  });
});

test('samples are bounded, without secrets, and long lists end with a number', () => {
  const secrets = new KnownSecrets(['sesame-1234']);
  const many = Array.from({ length: 60 }, (_, index) => ({ kind: 'file', name: `${index}.txt`, count: 2 }));
  const event = { kind: 'event', name: 'opened', count: 1, sample: { with: 'sesame-1234', text: 'x'.repeat(5_000) } };
  const { committed = [], discarded = [] } = toCallChanges([{ committed: [event], discarded: many }], secrets) ?? {};
  expect(JSON.stringify(committed).length).toBeLessThan(1_000);
  expect(JSON.stringify(committed)).not.toContain('sesame');
  expect(discarded).toHaveLength(51);
  expect(discarded.at(-1)).toEqual({ kind: 'file', name: '', count: 20 });
  expect(discarded.reduce((sum, { count }) => sum + count, 0)).toBe(120);
});
