import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Engine } from '../../src/ports/engine/engine.ts';
import { createGraphileEngine } from '../../src/ports/engine/graphile-engine.ts';
import { createInProcessEngine } from '../../src/ports/engine/in-process-engine.ts';
import { forEachTest } from '../support/for-all-tests.ts';
import { type Database, databases } from '../support/stores.ts';
import { recordWakes } from './wakes.ts';

const createEngine = async ({ kind, location }: Database): Promise<Engine> =>
  kind === 'sqlite' ? createInProcessEngine() : await createGraphileEngine({ url: location });

describe.each(databases)('the engine for $kind', ({ create }) => {
  const database = forEachTest(create);
  const store = forEachTest(() => database.open());
  const engine = forEachTest(() => createEngine(database));

  const enqueue = (threadId: string, at?: number | 'urgent') =>
    store.transaction((tx) => engine.enqueue(tx, threadId, at));

  test('a thread is woken once its transaction is durable', async () => {
    const wakes = recordWakes();
    await engine.start(wakes.wake);
    await store.transaction(async (tx) => {
      await engine.enqueue(tx, 'a');
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
      await engine.enqueue(tx, 'a');
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
    await enqueue('a', 'urgent');
    await enqueue('a');
    await enqueue('b');
    const wakes = recordWakes();
    await engine.start(wakes.wake);
    await Promise.all([wakes.of('a'), wakes.of('b')]);
    await expect.poll(() => wakes.firsts).toEqual(['a']);
    await enqueue('b', 'urgent');
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
      // What a cycle would see of its inbox.
      seen.set(threadId, committed.get(threadId) ?? 0);
      if (threads.every((thread) => seen.get(thread) === 4 * rounds)) caughtUp.resolve();
    });
    const write = async (threadId: string): Promise<void> => {
      for (let round = 0; round < rounds; round++) {
        await store.transaction(async (tx) => {
          tx.afterCommit(() => committed.set(threadId, (committed.get(threadId) ?? 0) + 1));
          await engine.enqueue(tx, threadId);
        });
      }
    };
    await Promise.all(threads.flatMap((thread) => [write(thread), write(thread), write(thread), write(thread)]));
    // The record of a commit comes a moment after it, so the last wake may have come between: one more, alone.
    for (const thread of threads) if (seen.get(thread) !== 4 * rounds) await enqueue(thread);
    await caughtUp.promise;
  });

  test('transactions that wake the same threads in another order never block each other', async () => {
    const threads = ['a', 'b', 'c', 'd'];
    let runs = 0;
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        store.transaction(async (tx) => {
          runs++;
          for (const thread of index % 2 === 0 ? threads : threads.toReversed()) {
            await engine.enqueue(tx, thread);
            await turnOfTheLoop();
          }
        }),
      ),
    );
    // One that the database ended because of a deadlock would have run again.
    expect(runs).toBe(20);
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
      await wakes.wake(threadId);
    });
    await enqueue('bad');
    await enqueue('good');
    await wakes.of('good');
    await enqueue('bad');
    await wakes.of('bad');
  });

  test('a delayed wake comes at its time, in the order of times', async () => {
    const wakes = recordWakes();
    await engine.start(wakes.wake);
    const now = Date.now();
    await enqueue('later', now + 400);
    await enqueue('sooner', now + 200);
    await enqueue('past', now - 5_000);
    await wakes.of('past');
    await wakes.of('sooner');
    expect(Date.now()).toBeGreaterThanOrEqual(now + 190);
    await wakes.of('later');
    expect(Date.now()).toBeGreaterThanOrEqual(now + 390);
  });

  test('a delayed wake does not put off an immediate one, nor is it lost by it', async () => {
    const wakes = recordWakes();
    await engine.start(wakes.wake);
    // Put off, it would come after an hour.
    await enqueue('a', Date.now() + 3_600_000);
    await enqueue('a');
    await wakes.of('a');
    // Long enough that a slow machine delivers the immediate one first.
    const due = Date.now() + 2_500;
    await enqueue('b', due);
    await enqueue('b');
    await wakes.of('b', 2);
    expect(Date.now()).toBeGreaterThanOrEqual(due - 10);
  });

  test('a wake of next century waits for it', async () => {
    const wakes = recordWakes();
    await engine.start(wakes.wake);
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on('warning', onWarning);
    await enqueue('far', Date.now() + 100 * 365 * 86_400_000);
    await enqueue('near');
    await wakes.of('near');
    process.off('warning', onWarning);
    expect(wakes.threads).toEqual(['near']);
    // A timer of so long would fire at once, again and again.
    expect(warnings).toEqual([]);
  });

  test('[G42] after a stop nothing is delivered, and the next start delivers it', async () => {
    const wakes = recordWakes();
    await engine.start(wakes.wake);
    await enqueue('a');
    await wakes.of('a');
    await engine.stop();
    await enqueue('b');
    await enqueue('c', Date.now() + 1);
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
