import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { answer } from '../../src/domain/calls/answer-call.ts';
import { createConversation, getConversation } from '../../src/domain/conversations/conversation.ts';
import { sweepConversations } from '../../src/domain/conversations/sweep-conversations.ts';
import { awaitRun } from '../../src/runtime/chat/await-run.ts';
import { startTurn } from '../../src/runtime/chat/start-turn.ts';
import type { TurnRequest } from '../../src/runtime/chat/turn-request.ts';
import { waitFor } from '../../src/testing/wait-for.ts';
import { chatWith } from '../support/conversations.ts';
import { describeIdleWorld, describeWorlds } from '../support/describe-worlds.ts';
import { databases, onPostgres } from '../support/stores.ts';
import type { World } from '../support/world.ts';
import { call } from './chat-api.ts';

const DAY = 86_400_000;
const KEY = { kind: 'key', keyId: 'key' } as const;
const anything = z.looseObject({});

/** Sweeps as it would this many days from now. */
const sweepAfter = (world: World, days: number): Promise<number> =>
  sweepConversations(world.services, { now: Date.now() + days * DAY });

async function contextIds(world: World): Promise<readonly string[]> {
  return (await world.store.db.selectFrom('contexts').select('id').execute()).map(({ id }) => id);
}

const TABLES = [
  'contexts',
  'threads',
  'runs',
  'calls',
  'transcript_entries',
  'inbox_events',
  'turn_requests',
  'streams',
  'stream_events',
] as const;

/** The tables with a row that names one of these ids. */
async function tablesWith(world: World, ids: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const table of TABLES) {
    const rows = await world.store.db.selectFrom(table).selectAll().execute();
    if (ids.some((id) => JSON.stringify(rows).includes(id))) found.push(table);
  }
  return found;
}

async function start(world: World, request: Omit<TurnRequest, 'caller'>) {
  const { services, registry } = world;
  const accepted = await world.in((tx) => startTurn(tx, registry, { caller: KEY, ...request }));
  await awaitRun(services, accepted.runId);
  return accepted;
}

describeWorlds(
  'unused contexts',
  (open) => {
    test('a conversation is deleted a year after its last use, with everything that happened in it', async () => {
      const look = tool({ description: 'Looks.', inputSchema: anything, approval: true, execute: () => 'Seen.' });
      const world = await open({
        models: { default: scriptedModel([call('look'), 'Yes.', 'Again.']) },
        tools: { look },
      });
      const chat = await chatWith(world, { tools: ['look'] });
      const { runId } = await chat.start({ message: 'Look' }, { identity: { key: 'k', bodyHash: 'b' } });
      const { pending } = await awaitRun(world.services, runId);
      const answered = await chat.turn({ answers: { [pending[0]?.callId ?? '']: { approve: true } } });
      expect(answered.response).toBe('Yes.');
      await world.idle();
      const ids = [chat.contextId, runId, answered.runId];
      expect(await tablesWith(world, ids)).toEqual([...TABLES]);
      await sweepAfter(world, 364);
      expect(await contextIds(world)).toContain(chat.contextId);
      await sweepAfter(world, 366);
      expect(await contextIds(world)).not.toContain(chat.contextId);
      expect(await tablesWith(world, ids)).toEqual([]);
    });

    test('contexts of calls, and of answers that are not saved, are deleted after a week; contexts with saved content are not', async () => {
      const look = tool({ description: 'Looks.', inputSchema: anything, execute: () => 'Seen.' });
      const world = await open({ models: { default: scriptedModel(() => 'Hi.') }, tools: { look } });
      const agent = await world.agent('Bot');
      const message = { input: { message: 'Hi' } };
      const calls = await start(world, { conversation: {}, input: { call: { tool: 'look', input: {} } } });
      const unsaved = await start(world, { conversation: { agent }, ...message, settings: { save: false } });
      const asked = await start(world, { conversation: { agent }, ...message, isBrief: true });
      const saved = await start(world, { conversation: { agent }, ...message });
      const keptIn = await start(world, { conversation: { agent }, ...message, settings: { save: false } });
      await start(world, { conversation: { contextId: keptIn.contextId }, ...message });
      await world.idle();
      await sweepAfter(world, 6);
      const all = [calls, unsaved, asked, saved, keptIn].map(({ contextId }) => contextId);
      expect(await contextIds(world)).toEqual(expect.arrayContaining(all));
      await sweepAfter(world, 8);
      const left = await contextIds(world);
      expect(all.filter((id) => left.includes(id))).toEqual([saved.contextId, keptIn.contextId]);
    });

    test('a conversation with an open run is kept however old it is, and counts as used when it ends', async () => {
      const gate = Promise.withResolvers<void>();
      const look = tool({ description: 'Looks.', inputSchema: anything, execute: () => gate.promise });
      const world = await open({ models: { default: scriptedModel([call('look'), 'Yes.']) }, tools: { look } });
      const chat = await chatWith(world, { tools: ['look'] });
      const { runId } = await chat.start({ message: 'Look' });
      await waitFor(
        async () => (await world.store.db.selectFrom('runs').where('id', '=', runId).select('id').execute()).length > 0,
      );
      await sweepAfter(world, 5_000);
      gate.resolve();
      expect((await awaitRun(world.services, runId)).response).toBe('Yes.');
      await world.idle();
      expect(await contextIds(world)).toContain(chat.contextId);
    });

    test('a conversation with a call that waits is kept, and so is one whose answer was not read yet', async () => {
      const model = scriptedModel([call('ask'), 'Thanks.']);
      const world = await open({ models: { default: model } });
      const chat = await chatWith(world);
      const { runId, pending } = await chat.say('Ask', { clientTools: [{ name: 'ask' }] });
      await world.idle();
      await sweepAfter(world, 5_000);
      expect(await contextIds(world)).toContain(chat.contextId);
      await world.in((tx) =>
        tx.db.updateTable('agents').set({ status: 'paused' }).where('id', '=', chat.agentId).execute(),
      );
      const callId = pending[0]?.callId ?? '';
      await answer(world.services, { runId, callId, answer: { result: 1 }, by: { key: true } });
      await sweepAfter(world, 10_000);
      expect(await contextIds(world)).toContain(chat.contextId);
    });

    test('a use after the last sweep counts, even if only the run shows it', async () => {
      const world = await open({ models: { default: scriptedModel(() => 'Hi.') } });
      const chat = await chatWith(world);
      await chat.say('Hi');
      await world.idle();
      const usedAt = Date.now() + 200 * DAY;
      await world.in((tx) =>
        tx.db.updateTable('runs').set({ ended_at: usedAt }).where('thread_id', '=', chat.contextId).execute(),
      );
      await sweepAfter(world, 366);
      expect(await contextIds(world)).toContain(chat.contextId);
      await sweepAfter(world, 200 + 366);
      expect(await contextIds(world)).not.toContain(chat.contextId);
    });

    test('a new conversation with the id of a deleted one has nothing of it', async () => {
      const model = scriptedModel(() => 'Hi.');
      const world = await open({ models: { default: model } });
      const agent = await world.agent('Bot');
      await start(world, { conversation: { agent, newId: 'again' }, input: { message: 'A secret' } });
      await world.idle();
      const epochOf = async () =>
        (await world.store.db.selectFrom('threads').select('epoch').where('id', '=', 'again').executeTakeFirst())
          ?.epoch ?? 0;
      const before = await epochOf();
      await sweepAfter(world, 366);
      await world.in((tx) => createConversation(tx, { id: 'again', agentId: agent }));
      // Caches identify a thread by its id and epoch.
      expect(await epochOf()).toBeGreaterThan(before + 1);
      await start(world, { conversation: { contextId: 'again' }, input: { message: 'Hello' } });
      expect(JSON.stringify(model.requests.at(-1))).not.toContain('A secret');
    });
  },
  databases,
);

describeIdleWorld({ title: 'a conversation that is about to be used', on: [onPostgres] }, ({ world }) => {
  test('it is not deleted while a person posts a message in it', async () => {
    const agentId = await world.agent('Bot');
    const { id: contextId } = await world.in((tx) => createConversation(tx, { agentId }));
    const said = Promise.withResolvers<void>();
    const swept = Promise.withResolvers<void>();
    const saying = world.in(async (tx) => {
      const request = { caller: KEY, conversation: { contextId }, input: { message: 'Hi' } };
      await startTurn(tx, world.registry, request);
      said.resolve();
      await swept.promise;
    });
    await said.promise;
    expect(await sweepAfter(world, 5_000)).toBe(0);
    swept.resolve();
    await saying;
    await sweepAfter(world, 5_000);
    expect((await getConversation(world.store.db, contextId, KEY)).id).toBe(contextId);
  });
});
