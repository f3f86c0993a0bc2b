import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createEngine } from '../../src/ports/engine/engine.ts';
import { DEFAULT_PARTS } from '../../src/ports/store/store-parts.ts';
import { forEachTest } from '../support/for-all-tests.ts';
import { databases } from '../support/stores.ts';
import { recordWakes } from './wakes.ts';

describe.each(databases)('the engine on $kind', ({ create }) => {
  const database = forEachTest(create);
  const engine = forEachTest(async () => createEngine());
  const store = forEachTest(() => database.open({ ...DEFAULT_PARTS, engine }));

  const enqueue = (threadId: string, options?: { isUrgent: boolean }) =>
    store.transaction(async (tx) => tx.wake(threadId, options));

  test('a thread is woken once its transaction is durable', async () => {
    const wakes = recordWakes();
    await engine.start(wakes.wake);
    await store.transaction(async (tx) => {
      tx.wake('a');
      await tx.db.insertInto('settings').values({ key: 'reason', value: '1' }).execute();
      await turnOfTheLoop();
      expect(wakes.threads).toEqual([]);
    });
    await wakes.of('a');
    expect(await store.db.selectFrom('settings').select('key').execute()).toHaveLength(1);
  });

  test('a transaction that rejects wakes no thread', async () => {
    const wakes = recordWakes();
    await engine.start(wakes.wake);
    const failing = store.transaction(async (tx) => {
      tx.wake('a');
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    // Whoever came later has been woken: 'a' would have been before.
    await enqueue('b');
    await wakes.of('b');
    expect(wakes.threads).toEqual(['b']);
  });

  test('what was enqueued before the start is delivered after it', async () => {
    await enqueue('a');
    const wakes = recordWakes();
    await engine.start(wakes.wake);
    await wakes.of('a');
  });

  test('wakes of one thread that wait become one', async () => {
    await Promise.all(Array.from({ length: 20 }, () => enqueue('a')));
    await enqueue('b');
    const wakes = recordWakes();
    await engine.start(wakes.wake);
    // Several are delivered side by side, in no order.
    await Promise.all([wakes.of('a'), wakes.of('b')]);
    expect(wakes.threads.toSorted()).toEqual(['a', 'b']);
  });

  test('a thread that a person waits for is woken as urgent, whatever else wakes it', async () => {
    await enqueue('a', { isUrgent: true });
    await enqueue('a');
    await enqueue('b');
    const wakes = recordWakes();
    await engine.start(wakes.wake);
    await Promise.all([wakes.of('a'), wakes.of('b')]);
    await expect.poll(() => wakes.firsts).toEqual(['a']);
    await enqueue('b', { isUrgent: true });
    await expect.poll(() => wakes.firsts.includes('b')).toBe(true);
  });

  test('[G9] a wake follows the last enqueue, also while one is under way', async () => {
    const wakes = recordWakes();
    const first = wakes.hold('a');
    await engine.start(wakes.wake);
    await enqueue('a');
    await first.begun;
    await enqueue('a');
    await wakes.of('a', 2);
    first.release();
  });

  test('[G9] under many enqueues side by side none is without a wake after it', async () => {
    const seen = new Map<string, number>();
    const committed = new Map<string, number>();
    const caughtUp = Promise.withResolvers<void>();
    const rounds = 25;
    const threads = ['a', 'b', 'c'];
    await engine.start(async (threadId) => {
      // What a run would see of its inbox.
      seen.set(threadId, committed.get(threadId) ?? 0);
      if (threads.every((thread) => seen.get(thread) === 4 * rounds)) caughtUp.resolve();
    });
    const write = async (threadId: string): Promise<void> => {
      for (let round = 0; round < rounds; round++) {
        await store.transaction(async (tx) => {
          tx.afterCommit(() => committed.set(threadId, (committed.get(threadId) ?? 0) + 1));
          tx.wake(threadId);
        });
      }
    };
    await Promise.all(threads.flatMap((thread) => [write(thread), write(thread), write(thread), write(thread)]));
    // The record of a commit comes a moment after it, so the last wake may have come between: one more, alone.
    for (const thread of threads) if (seen.get(thread) !== 4 * rounds) await enqueue(thread);
    await caughtUp.promise;
  });

  test('[G56] a wake that never ends delays no other thread', async () => {
    const wakes = recordWakes();
    wakes.hold('stuck');
    await engine.start(wakes.wake);
    await enqueue('stuck');
    await wakes.of('stuck');
    for (const thread of ['b', 'c', 'd']) await enqueue(thread);
    await Promise.all(['b', 'c', 'd'].map((thread) => wakes.of(thread)));
  });

  test('[G56] as many wakes that never end as can be under way delay no other thread', async () => {
    const wakes = recordWakes();
    await engine.start(wakes.wake);
    const stuck = Array.from({ length: 12 }, (_, index) => `stuck ${index}`);
    for (const thread of stuck) wakes.hold(thread);
    await Promise.all(stuck.map((thread) => enqueue(thread)));
    await enqueue('idle');
    await wakes.of('idle');
  });

  test('a wake that fails is no trouble to others, nor to the next of its thread', async () => {
    const wakes = recordWakes();
    let failures = 0;
    await engine.start(async (threadId) => {
      if (threadId === 'bad' && failures++ === 0) throw new Error('no');
      await wakes.wake(threadId, { isUrgent: false });
    });
    await enqueue('bad');
    await enqueue('good');
    await wakes.of('good');
    await enqueue('bad');
    await wakes.of('bad');
  });

  test('[G42] after a stop nothing is delivered, and the next start delivers it', async () => {
    const wakes = recordWakes();
    await engine.start(wakes.wake);
    await enqueue('a');
    await wakes.of('a');
    await engine.stop();
    await enqueue('b');
    await enqueue('c');
    expect(wakes.threads).toEqual(['a']);
    const next = recordWakes();
    await engine.start(next.wake);
    await Promise.all([next.of('b'), next.of('c')]);
    expect(wakes.threads).toEqual(['a']);
  });

  test('[G42] a stop does not wait for a wake under way', async () => {
    const wakes = recordWakes();
    wakes.hold('stuck');
    await engine.start(wakes.wake);
    await enqueue('stuck');
    await wakes.of('stuck');
    // The wake never ends: a stop that waited for it would not either.
    await engine.stop();
    expect(wakes.threads).toEqual(['stuck']);
    await engine.stop();
  });
});
