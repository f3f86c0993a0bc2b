import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { checkTools } from '../../src/config/registered-tool.ts';
import { loadTranscriptRows } from '../../src/domain/transcript/load-transcript.ts';
import { claimNextRun } from '../../src/runtime/claim/next-run.ts';
import { TranscriptCache } from '../../src/runtime/claim/transcript-cache.ts';
import { performRun } from '../../src/runtime/loops/perform-run.ts';
import type { ActiveRun } from '../../src/runtime/run/active-run.ts';
import { ToolCaches } from '../../src/runtime/toolset/tool-caches.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { lobby } from '../support/lobby.ts';
import { neverCancelled } from '../support/never-cancelled.ts';
import { embedded, onPostgres } from '../support/stores.ts';
import { openWorld } from '../support/world.ts';

const row = { seq: 1, kind: 'turn', payload: '{"entry":{"kind":"turn"}}' };
const activeRunOf = (threadId: string, epoch: number): Pick<ActiveRun, 'lease' | 'rows'> => ({
  lease: { threadId, epoch },
  rows: [row],
});

test('a transcript is cached until another worker has held the thread', () => {
  const transcriptCache = new TranscriptCache();
  transcriptCache.put(activeRunOf('a', 5));
  expect(transcriptCache.get({ threadId: 'a', epoch: 5 }, { isNewClaim: false })).toEqual([row]);
  expect(transcriptCache.get({ threadId: 'a', epoch: 6 }, { isNewClaim: true })).toEqual([row]);
  transcriptCache.updateEpoch({ threadId: 'a', epoch: 6 });
  expect(transcriptCache.get({ threadId: 'a', epoch: 7 }, { isNewClaim: true })).toEqual([row]);
  // Another worker had it in epoch 7.
  expect(transcriptCache.get({ threadId: 'a', epoch: 8 }, { isNewClaim: true })).toBeUndefined();
  expect(transcriptCache.get({ threadId: 'a', epoch: 7 }, { isNewClaim: true })).toBeUndefined();
});

test('the least recently used are dropped if together they are too large', () => {
  const transcriptCache = new TranscriptCache({ maxCharacters: 4 * row.payload.length });
  const isKept = (threadId: string): boolean =>
    transcriptCache.get({ threadId, epoch: 1 }, { isNewClaim: false }) !== undefined;
  for (const name of ['a', 'b', 'c', 'd']) transcriptCache.put(activeRunOf(name, 1));
  transcriptCache.updateEpoch({ threadId: 'a', epoch: 1 });
  transcriptCache.put(activeRunOf('e', 1));
  expect(['a', 'b', 'c', 'd', 'e'].map(isKept)).toEqual([true, false, true, true, true]);
  // A transcript that would replace most others is not cached.
  transcriptCache.put({ lease: { threadId: 'f', epoch: 1 }, rows: [row, row] });
  expect(isKept('f')).toBe(false);
});

describe.each(embedded)('transcriptCache on $kind', ({ create }) => {
  const database = forAllTests(create);

  test('[G13] a cached transcript equals the stored one', async () => {
    const given = { list: [1, undefined, new Date(0)], nested: { none: undefined, 'a"b': '<x>' } };
    const add = tool({ description: 'Gives.', inputSchema: z.object({}), execute: () => given });
    const model = scriptedModel((_request, invocation) => (invocation % 2 === 1 ? [{ toolName: 'add' }] : 'Done.'));
    const world = await openWorld({ database, models: { default: model } });
    const { ada, bot, space } = await lobby(world, { tools: ['add'] });
    const tools = checkTools({ add: { tool: add, visible: false } }, ['tools']);
    if (!tools.ok) throw new Error('The tools are wrong.');
    const registry = { tools: tools.value, model: () => model, agentLimits: {}, toolCaches: new ToolCaches() };
    const transcriptCache = new TranscriptCache();
    for (let count = 1; count <= 3; count++) {
      await world.say(space, ada, `Message ${count}`);
      const taken = await claimNextRun(world.services, registry, bot, {
        owner: 'me',
        isUrgent: false,
        transcriptCache,
      });
      if (taken === undefined) throw new Error('There was nothing to do.');
      const { run, lease } = taken;
      const ended = await performRun(world.services, registry, run, neverCancelled());
      expect(ended).toMatchObject({ as: 'completed', thread: 'released', transcript: expect.any(Array) });
      expect(run.number).toBe(count);
      if (ended.transcript !== 'unknown')
        transcriptCache.put({ lease, rows: ended.transcript, state: taken.run.state });
      // A tool that still mutates its result does not change the transcript.
      given.list.push(count);
      const stored = await loadTranscriptRows(world.store.db, bot);
      expect(transcriptCache.get(taken.lease, { isNewClaim: false })).toEqual(stored.map((row) => ({ ...row })));
      expect(stored.length).toBeGreaterThanOrEqual(5 * count);
    }
    await world.stop();
  });
});

describe.each([onPostgres])('transcriptCache of several gateways', ({ create }) => {
  test('[G13] two gateways that take turns with a thread lose nothing of it', async () => {
    const database = await create();
    const heard: string[] = [];
    const model = scriptedModel(({ prompt }) => {
      heard.push(JSON.stringify(prompt));
      return 'Done.';
    });
    const worlds = [
      await openWorld({ database, models: { default: model } }),
      await openWorld({ database, models: { default: model } }),
    ] as const;
    const { ada, space } = await lobby(worlds[0]);
    for (const world of worlds) await world.start();
    const texts = Array.from({ length: 12 }, (_, index) => `This is number ${index}.`);
    for (const [index, text] of texts.entries()) {
      // Each is woken by its own scheduler: some messages in a row are handled by one, then some by the other.
      const world = worlds[Math.floor(index / 2) % 2 === 0 ? 0 : 1];
      await world.say(space, ada, text);
      await world.idle();
    }
    const last = heard.at(-1) ?? '';
    expect(texts.filter((text) => last.split(text).length !== 2)).toEqual([]);
    for (const world of worlds) await world.stop();
    await database.remove();
  });
});
