import { type FakeClock, fakeClock } from '@lastcall/core/testing';
import { describe, expect, test } from 'vitest';
import { type ClaimOptions, Scheduler } from '../../src/runtime/scheduler.ts';

const urgent = { isUrgent: true };
const other = { isUrgent: false };

const settled = (): Promise<unknown> => new Promise(setImmediate);

interface Rig {
  readonly scheduler: Scheduler;
  readonly clock: FakeClock;
  /** The threads that got a turn, in order. */
  readonly turns: string[];
  /** The threads that were claimed as urgent, in order. */
  readonly urgentTurns: string[];
  /** The threads that were claimed ahead of others, in order. */
  readonly firstTurns: string[];
  /** Ends the claim of the thread, if claims do not end by themselves. */
  claimed(threadId: string, found?: 'work' | 'nothing'): Promise<void>;
  /** Ends the work on the thread. */
  release(threadId: string): Promise<void>;
  start(): Promise<void>;
  /** Wakes the threads, and runs everything that can run. */
  wake(threadIds: readonly string[], options?: { readonly isUrgent: boolean }): Promise<void>;
}

interface RigOptions {
  readonly slots?: number;
  readonly startsAtOnce?: number;
  readonly isBusy?: () => boolean;
  /** `at-once`: every claim finds work. `by-hand`: a claim ends when the test says so. */
  readonly claims?: 'at-once' | 'by-hand';
}

function rig({ slots = 100, startsAtOnce = 8, isBusy = () => false, claims = 'at-once' }: RigOptions = {}): Rig {
  const clock = fakeClock();
  const scheduler = new Scheduler({ slots, clock });
  const [turns, urgentTurns, firstTurns]: [string[], string[], string[]] = [[], [], []];
  const claiming = new Map<string, (found: 'work' | 'nothing') => void>();
  const working = new Map<string, () => void>();
  const claim = async (threadId: string, { isUrgent, isFirst }: ClaimOptions) => {
    turns.push(threadId);
    if (isUrgent) urgentTurns.push(threadId);
    if (isFirst) firstTurns.push(threadId);
    const found = claims === 'at-once' ? 'work' : await new Promise((resolve) => claiming.set(threadId, resolve));
    if (found === 'nothing') return undefined;
    return () => new Promise<void>((resolve) => working.set(threadId, resolve));
  };
  return {
    ...{ scheduler, clock, turns, urgentTurns, firstTurns },
    async claimed(threadId, found = 'work') {
      claiming.get(threadId)?.(found);
      await settled();
    },
    async release(threadId) {
      working.get(threadId)?.();
      await settled();
      await settled();
    },
    async start() {
      scheduler.start({ startsAtOnce, isBusy, claim });
      await settled();
      await settled();
    },
    async wake(threadIds, options = other) {
      for (const threadId of threadIds) scheduler.enqueue(threadId, options);
      await settled();
      await settled();
    },
  };
}

const names = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${name} ${index}`);

/** Releases whichever thread holds the only slot, until no more thread gets a turn. */
async function runAll({ turns, release }: Rig): Promise<void> {
  for (let released = 0; released < turns.length; released++) await release(turns[released] ?? '');
}

describe('the order', () => {
  test('1. a thread that a person woke goes before threads that had a run and have more for people, and both go before all others', async () => {
    const one = rig({ slots: 1 });
    await one.start();
    await one.wake(['busy']);
    await one.wake(['other']);
    // The person wrote to it while it ran, so it has more to do after its run.
    await one.wake(['busy'], urgent);
    await one.release('busy');
    // The freed slot goes to a thread that waited for it.
    expect(one.turns).toEqual(['busy', 'other']);
    await one.wake(['another']);
    await one.wake(['idle'], urgent);
    await one.release('other');
    await one.release('idle');
    await one.release('busy');
    expect(one.turns).toEqual(['busy', 'other', 'idle', 'busy', 'another']);
  });

  test('1. the worker learns which thread a person woke from sleep, so that its claim goes first', async () => {
    const one = rig();
    await one.start();
    await one.wake(['other']);
    await one.wake(['idle'], urgent);
    await one.wake(['idle'], urgent);
    await one.release('idle');
    expect(one.turns).toEqual(['other', 'idle', 'idle']);
    expect(one.urgentTurns).toEqual(['idle', 'idle']);
    expect(one.firstTurns).toEqual(['idle']);
  });

  test('2. threads of one rank go in the order in which they began to wait', async () => {
    const one = rig({ slots: 1 });
    await one.start();
    await one.wake(['runs now', 'a', 'b', 'c']);
    await runAll(one);
    expect(one.turns).toEqual(['runs now', 'a', 'b', 'c']);
  });

  test('2. threads that have more to do take turns, one run each', async () => {
    const one = rig({ slots: 1 });
    await one.start();
    await one.wake(['a', 'b', 'c'], urgent);
    for (const running of ['a', 'b', 'c', 'a', 'b']) {
      await one.wake([running], urgent);
      await one.release(running);
    }
    expect(one.turns).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
  });

  test('3. urgent threads that never stop coming do not starve the others', async () => {
    const one = rig({ slots: 1 });
    await one.start();
    await one.wake(['person'], urgent);
    await one.wake(['other']);
    await one.wake(names('person', 20), urgent);
    await runAll(one);
    expect(one.turns).toHaveLength(22);
    // The first one went before it was queued, and eight ahead of it.
    expect(one.turns.indexOf('other')).toBe(9);
  });

  test('3. threads that people keep waking starve neither those that have more to do nor the others', async () => {
    const one = rig({ slots: 2 });
    await one.start();
    await one.wake(['busy', 'runs now'], urgent);
    await one.wake(['other']);
    await one.wake(names('idle', 1), urgent);
    await one.wake(['busy'], urgent);
    await one.release('busy');
    await one.wake(names('idle', 31).slice(1), urgent);
    const before = one.turns.length;
    for (let released = 1; released < one.turns.length; released++) await one.release(one.turns[released] ?? '');
    const later = one.turns.slice(before);
    expect(later.indexOf('other')).toBeLessThan(9);
    expect(later.indexOf('busy')).toBe(later.indexOf('other') + 9);
  });

  test('4. while the store is busy, urgent threads run and all others wait, also those that hold a slot', async () => {
    let isBusy = true;
    const one = rig({ isBusy: () => isBusy });
    await one.start();
    await one.wake(['a']);
    // No thread has started yet, so one starts, whatever the store says.
    expect(one.turns).toEqual(['a']);
    await one.wake(['b', 'c']);
    await one.wake(['person'], urgent);
    const next = one.scheduler.nextTurn('a', async () => void one.turns.push('a again'));
    await settled();
    expect(one.turns).toEqual(['a', 'person']);
    await one.wake(['c'], urgent);
    expect(one.turns).toEqual(['a', 'person', 'c']);
    isBusy = false;
    await one.clock.advance(2);
    await next;
    expect(one.turns).toEqual(['a', 'person', 'c', 'b', 'a again']);
  });

  test('4. a store that stays busy for ever starves no thread: one more starts after 20 ms', async () => {
    const one = rig({ isBusy: () => true });
    await one.start();
    await one.wake(['a', 'b', 'c']);
    expect(one.turns).toEqual(['a']);
    await one.clock.advance(20);
    expect(one.turns).toEqual(['a']);
    await one.clock.advance(2);
    expect(one.turns).toEqual(['a', 'b']);
    await one.clock.advance(22);
    expect(one.turns).toEqual(['a', 'b', 'c']);
  });

  test('4. many threads start in small bursts, so that the store is asked in between', async () => {
    const one = rig();
    await one.start();
    await one.wake(names('thread', 100));
    expect(one.turns).toHaveLength(8);
    for (let burst = 0; burst < 12; burst++) await one.clock.advance(2);
    expect(one.turns).toEqual(names('thread', 100));
  });
});

describe('the limits', () => {
  test('only as many threads are held as there are slots, and a freed slot goes to an urgent thread first', async () => {
    const one = rig({ slots: 2 });
    await one.start();
    await one.wake(['a', 'b', 'c', 'd']);
    await one.wake(['person'], urgent);
    expect(one.turns).toEqual(['a', 'b']);
    expect(one.scheduler.hasWaiting).toBe(true);
    await one.release('a');
    expect(one.turns).toEqual(['a', 'b', 'person']);
    await one.release('b');
    await one.release('person');
    expect(one.turns).toEqual(['a', 'b', 'person', 'c', 'd']);
    expect(one.scheduler.hasWaiting).toBe(false);
  });

  test('a thread that had nothing to do frees its slot', async () => {
    const one = rig({ slots: 1, claims: 'by-hand' });
    await one.start();
    await one.wake(['a', 'b']);
    await one.claimed('a', 'nothing');
    expect(one.turns).toEqual(['a', 'b']);
  });

  test('few threads start at a time, and one that comes later is let ahead of those that wait', async () => {
    const one = rig({ claims: 'by-hand' });
    await one.start();
    await one.wake(['had a run'], urgent);
    await one.claimed('had a run');
    await one.wake(names('starting', 8), urgent);
    await one.wake(['had a run'], urgent);
    await one.release('had a run');
    await one.wake(['idle'], urgent);
    expect(one.turns).toEqual(['had a run', ...names('starting', 8)]);
    await one.claimed('starting 3');
    expect(one.turns.slice(9)).toEqual(['idle']);
    await one.claimed('idle');
    expect(one.turns.slice(9)).toEqual(['idle', 'had a run']);
  });

  test('[G56] claims that never end do not block the other threads for ever', async () => {
    const one = rig({ claims: 'by-hand' });
    await one.start();
    await one.wake(names('stuck', 10), urgent);
    expect(one.turns).toHaveLength(8);
    await one.clock.advance(21);
    expect(one.turns).toHaveLength(9);
    await one.clock.advance(21);
    expect(one.turns).toHaveLength(10);
  });

  test('a held thread needs no slot for its next turn, and its wakes until then are read with it', async () => {
    const one = rig({ slots: 1 });
    await one.start();
    await one.wake(['a', 'b']);
    await one.wake(['a'], urgent);
    await one.scheduler.nextTurn('a', async () => void one.turns.push('a again'));
    await one.release('a');
    expect(one.turns).toEqual(['a', 'a again', 'b']);
    await one.release('b');
    expect(one.turns).toEqual(['a', 'a again', 'b']);
  });

  test('a next turn whose events could not be read fails only for its thread', async () => {
    const one = rig({ startsAtOnce: 1 });
    await one.start();
    await one.wake(['a']);
    const failing = one.scheduler.nextTurn('a', () => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
    await one.wake(['b']);
    expect(one.turns).toEqual(['a', 'b']);
  });
});

describe('wakes', () => {
  test('threads that were woken before the start get their turn after it', async () => {
    const one = rig();
    await one.wake(['a']);
    expect(one.turns).toEqual([]);
    await one.start();
    expect(one.turns).toEqual(['a']);
  });

  test('a wake is not handled before the code that woke the thread is done', async () => {
    const one = rig();
    await one.start();
    one.scheduler.enqueue('a', other);
    one.scheduler.enqueue('b', urgent);
    expect(one.turns).toEqual([]);
    await settled();
    expect(one.turns).toEqual(['b', 'a']);
  });

  test('wakes of one thread that waits become one, and it is urgent if one of them is', async () => {
    const one = rig({ slots: 1 });
    await one.start();
    await one.wake(['runs now']);
    await one.wake(['b', 'a', 'a', 'a']);
    await one.wake(['a'], urgent);
    await one.wake(['a']);
    await runAll(one);
    expect(one.turns).toEqual(['runs now', 'a', 'b']);
    expect(one.urgentTurns).toEqual(['a']);
  });

  test('[G9] a wake during the claim of its thread causes another claim, whatever the first one found', async () => {
    const one = rig({ claims: 'by-hand' });
    await one.start();
    await one.wake(['a']);
    await one.wake(['a'], urgent);
    await one.claimed('a', 'nothing');
    await settled();
    expect(one.turns).toEqual(['a', 'a']);
    expect(one.urgentTurns).toEqual(['a']);
    await one.wake(['a']);
    await one.claimed('a', 'work');
    await one.release('a');
    expect(one.turns).toEqual(['a', 'a', 'a']);
  });

  test('[G9] a wake while the thread is held is handled once it is released', async () => {
    const one = rig();
    await one.start();
    await one.wake(['a']);
    await one.wake(['a', 'a']);
    expect(one.turns).toEqual(['a']);
    await one.release('a');
    expect(one.turns).toEqual(['a', 'a']);
    await one.release('a');
    expect(one.turns).toEqual(['a', 'a']);
  });

  test('[G9] after each of many wakes there is a claim', async () => {
    const [written, seen] = [new Map<string, number>(), new Map<string, number>()];
    const scheduler = new Scheduler({ slots: 2 });
    const startsAtOnce = 2;
    const claim = async (threadId: string) => {
      await settled();
      // The events that a run would see.
      seen.set(threadId, written.get(threadId) ?? 0);
      return Math.random() < 0.5 ? undefined : async () => void (await settled());
    };
    scheduler.start({ startsAtOnce, isBusy: () => false, claim });
    const write = async (threadId: string): Promise<void> => {
      for (let round = 0; round < 100; round++) {
        written.set(threadId, (written.get(threadId) ?? 0) + 1);
        scheduler.enqueue(threadId, { isUrgent: round % 7 === 0 });
        if (round % 3 === 0) await settled();
      }
    };
    await Promise.all(['a', 'b', 'c', 'a', 'b', 'c'].map(write));
    await expect.poll(() => Object.fromEntries(seen)).toEqual({ a: 200, b: 200, c: 200 });
    await scheduler.stop();
  });

  test('a thread that a sweep found is woken unless it is known, and goes first if a person waits for it', async () => {
    const one = rig({ slots: 1 });
    await one.start();
    const found = async (threadId: string, options = other): Promise<void> => {
      one.scheduler.enqueueFound(threadId, options);
      await settled();
    };
    await found('a');
    await found('b');
    await found('c');
    // The thread reads the same events by itself.
    await found('a', urgent);
    await found('c', urgent);
    await runAll(one);
    expect(one.turns).toEqual(['a', 'c', 'b']);
  });
});

describe('a stop', () => {
  test('[G42] after a stop no thread is claimed, and those that wait are forgotten', async () => {
    const one = rig({ slots: 1 });
    await one.start();
    await one.wake(['a', 'b']);
    const stopped = one.scheduler.stop();
    await one.wake(['a', 'c'], urgent);
    await one.release('a');
    await stopped;
    expect(one.turns).toEqual(['a']);
    expect(one.scheduler.hasWaiting).toBe(false);
  });

  test('[G42] a stop resolves when the threads that are claimed or held are released', async () => {
    const one = rig({ claims: 'by-hand' });
    await one.start();
    await one.wake(['held', 'claimed', 'empty']);
    await one.claimed('held');
    let isStopped = false;
    const stopped = one.scheduler.stop().then(() => {
      isStopped = true;
    });
    await one.claimed('claimed', 'work');
    await one.claimed('empty', 'nothing');
    await one.release('held');
    expect(isStopped).toBe(false);
    await one.release('claimed');
    await stopped;
  });

  test('[G42] after a stop a held thread gets its next turn at once', async () => {
    const one = rig({ slots: 1, isBusy: () => true });
    await one.start();
    await one.wake(['a']);
    const waiting = one.scheduler.nextTurn('a', async () => 'read');
    const stopped = one.scheduler.stop();
    expect(await waiting).toBe('read');
    expect(await one.scheduler.nextTurn('a', async () => 'again')).toBe('again');
    await one.release('a');
    await stopped;
  });
});

test('a thread that was just woken does not count as delayed, and one that found no slot does', async () => {
  const one = rig({ slots: 1 });
  one.scheduler.enqueue('a', urgent);
  expect(one.scheduler.hasWaiting).toBe(false);
  await one.start();
  one.scheduler.enqueue('b', urgent);
  expect(one.scheduler.hasWaiting).toBe(false);
  await settled();
  expect(one.scheduler.hasWaiting).toBe(true);
});

test('a claim or work that fails frees its slot, and a later wake is served', async () => {
  const scheduler = new Scheduler({ slots: 1, clock: fakeClock() });
  const claims: string[] = [];
  const warned = new Promise((resolve) => process.once('warning', resolve));
  scheduler.start({
    startsAtOnce: 1,
    isBusy: () => false,
    async claim(threadId) {
      claims.push(threadId);
      if (claims.length === 1) throw new Error('The log is full.');
      return undefined;
    },
  });
  scheduler.enqueue('a', urgent);
  expect(await warned).toMatchObject({ message: 'The log is full.' });
  scheduler.enqueue('a', urgent);
  await settled();
  await settled();
  expect(claims).toEqual(['a', 'a']);
  await scheduler.stop();
});

test('while all slots are taken it does not search repeatedly for threads that may start', async () => {
  const one = rig({ slots: 1 });
  let looks = 0;
  const { sleep } = one.clock;
  one.clock.sleep = (...given) => {
    looks++;
    return sleep(...given);
  };
  await one.start();
  await one.wake(['a']);
  looks = 0;
  await one.wake(names('b', 20));
  expect(looks).toBe(0);
  await one.release('a');
  expect(one.turns).toEqual(['a', 'b 0']);
});
