import { scriptedModel } from '@lastcall/core/testing';
import { describe, expect, test } from 'vitest';
import { checkTools } from '../../src/config/registered-tool.ts';
import { spaceStream } from '../../src/domain/streams/stream-names.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { claimNextRun } from '../../src/runtime/claim/next-run.ts';
import { TranscriptCache } from '../../src/runtime/claim/transcript-cache.ts';
import { performRun } from '../../src/runtime/loops/perform-run.ts';
import { ToolCaches } from '../../src/runtime/toolset/tool-caches.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { lobby } from '../support/lobby.ts';
import { neverCancelled } from '../support/never-cancelled.ts';
import { databases } from '../support/stores.ts';
import { openWorld } from '../support/world.ts';

/** The store, whose n-th transaction fails after it did all its work. */
function failingAt(store: Store, at: number): { readonly store: Store; count(): number } {
  let count = 0;
  const transaction: Store['transaction'] = (work, options) => {
    const fails = ++count === at;
    return store.transaction(async (tx) => {
      const value = await work(tx);
      if (fails) throw new Error('The disk is full.');
      return value;
    }, options);
  };
  const { dialect, db, ping, close, reclaim } = store;
  return {
    store: { dialect, db, ping, close, reclaim, isBusy: false, claimsAtOnce: 8, rowsAtOnce: 100, transaction },
    count: () => count,
  };
}

describe.each(databases)('a write that fails on $kind', ({ create }) => {
  const database = forAllTests(create);
  const world = forAllTests(() => openWorld({ database, models: {} }));
  const registered = checkTools({}, ['tools']);

  async function runFailingAt(at: number) {
    const { ada, bot, space } = await lobby(world, {}, { isIn: true });
    const other = await world.space('Other', [ada, bot]);
    const replies = [
      [{ toolName: 'enter_space', input: { spaceId: other } }],
      [{ toolName: 'send_message', input: { text: 'Here I am.' } }],
    ];
    const model = scriptedModel((_request, asked) => replies[asked - 1] ?? 'Done.');
    if (!registered.ok) throw new Error('The tools are wrong.');
    const registry = { tools: registered.value, model: () => model, agentLimits: {}, toolCaches: new ToolCaches() };
    await world.say(space, ada, 'Go');
    const { store, count } = failingAt(world.store, at);
    const services = { ...world.services, store };
    const taking = { owner: 'me', isUrgent: false, transcriptCache: new TranscriptCache() };
    const taken = await claimNextRun(services, registry, bot, taking);
    if (taken === undefined) throw new Error('There was nothing to do.');
    const { as, transcript } = await performRun(services, registry, taken.run, neverCancelled());
    const told = async (spaceId: string): Promise<string> =>
      (await world.events(spaceStream(spaceId)))
        .flatMap(({ type }) => (/^agent\.(in)?active$/.test(type) ? [type.slice('agent.'.length)] : []))
        .join();
    return {
      as,
      isKnown: transcript !== 'unknown',
      told: [await told(space), await told(other)],
      transactions: count(),
    };
  }

  test('[G48] a run whose write fails at any point ends from what is stored: exactly the spaces that showed the agent as active show that it left', async () => {
    const { transactions, ...whole } = await runFailingAt(Number.POSITIVE_INFINITY);
    expect(whole).toEqual({ as: 'completed', isKnown: true, told: ['active,inactive', 'active,inactive'] });
    const told: string[] = [];
    for (let at = 2; at <= transactions; at++) {
      const failed = await runFailingAt(at);
      expect(failed).toMatchObject({ as: 'failed', isKnown: false });
      expect(failed.told[0]).toBe('active,inactive');
      expect(['', 'active,inactive']).toContain(failed.told[1]);
      told.push(failed.told[1] ?? '');
    }
    // The write of enter_space failed in some, and was durable before the one that failed in others.
    expect(new Set(told)).toEqual(new Set(['', 'active,inactive']));
  });
});
