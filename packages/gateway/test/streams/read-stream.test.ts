import fc from 'fast-check';
import type { KyselyPlugin } from 'kysely';
import { describe, expect, test } from 'vitest';
import { DEFAULT_GATEWAY_LIMITS } from '../../src/config/limits.ts';
import { readStream, type StreamReader } from '../../src/domain/streams/read-stream.ts';
import { sweepStreams } from '../../src/domain/streams/sweep-streams.ts';
import type { Bus, StreamEvent, StreamNotice } from '../../src/ports/bus/bus.ts';
import { createInProcessBus } from '../../src/ports/bus/in-process-bus.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { DEFAULT_PARTS } from '../../src/ports/store/store-parts.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { databases } from '../support/stores.ts';

describe.each(databases)('reading a stream on $kind', ({ create }) => {
  const database = forAllTests(create);
  const bus = createInProcessBus();
  /** The bus of the next transaction. */
  let current: Bus = bus;
  const store = forAllTests(() =>
    database.open({ ...DEFAULT_PARTS, bus: { publish: (events) => current.publish(events) } }),
  );

  const limits = DEFAULT_GATEWAY_LIMITS;
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  let streams = 0;
  const newStream = (): string => `test:${++streams}`;
  const say = (stream: string, count: number, size = 1, on: Bus = bus): Promise<void> => {
    current = on;
    return store.transaction(async (tx) => {
      for (let index = 0; index < count; index++)
        tx.emit({ stream, type: 'said', payload: { text: 'x'.repeat(size) } });
    });
  };
  const open = (stream: string, after?: number, more: object = {}): Promise<StreamReader> =>
    readStream({ store, bus, limits, logger, ...more }, { stream, ...(after === undefined ? {} : { after }) });

  test('[G45] a reader starts at the end, and gets new events in order, each once', async () => {
    const stream = newStream();
    await say(stream, 3);
    const reader = await open(stream);
    expect(reader.position).toBe(3);
    await say(stream, 2);
    await say(stream, 1);
    expect(await seqs(reader, 3)).toEqual([4, 5, 6]);
    reader.close();
    expect(await reader.next()).toBeUndefined();
  });

  test('[G45] a reader that resumes gets all missed events, across pages, and then new ones', async () => {
    const stream = newStream();
    await say(stream, 250);
    const reader = await open(stream, 20);
    expect(await seqs(reader, 100)).toEqual(range(21, 120));
    await say(stream, 5);
    expect(await seqs(reader, 135)).toEqual(range(121, 255));
    await say(stream, 1);
    expect(await seqs(reader, 1)).toEqual([256]);
    reader.close();
  });

  test('[G45] large events are read in small pages, and all of them arrive', async () => {
    const stream = newStream();
    for (let index = 0; index < 5; index++) await say(stream, 1, 400_000);
    await say(stream, 1, 1_500_000);
    const reader = await open(stream, 0);
    expect(await seqs(reader, 6)).toEqual(range(1, 6));
    reader.close();
  });

  test('[G45] outside the window there is one reset, and then new events', async () => {
    const stream = newStream();
    await say(stream, 5);
    await sweepStreams({ store, limits }, { now: Date.now() + limits.streamWindowMs + 60_000 });
    await say(stream, 2);
    const behind = await open(stream, 3);
    expect(await behind.next()).toEqual({ kind: 'reset', seq: 7 });
    await say(stream, 1);
    expect(await seqs(behind, 1)).toEqual([8]);
    behind.close();
    const inside = await open(stream, 5);
    expect(await seqs(inside, 3)).toEqual([6, 7, 8]);
    inside.close();
  });

  test('[G45] an id that no event had yet is answered with a reset', async () => {
    const stream = newStream();
    await say(stream, 2);
    const reader = await open(stream, 99);
    expect(await reader.next()).toEqual({ kind: 'reset', seq: 2 });
    await say(stream, 1);
    expect(await seqs(reader, 1)).toEqual([3]);
    reader.close();
  });

  test('[G49] the buffer of a slow reader is bounded, and it loses nothing', async () => {
    const stream = newStream();
    const reader = await open(stream, undefined, { limits: { ...limits, streamBacklog: 10 } });
    for (let index = 0; index < 5; index++) await say(stream, 10);
    expect(reader.held).toBe(10);
    expect(await seqs(reader, 30)).toEqual(range(1, 30));
    await say(stream, 10);
    expect(await seqs(reader, 30)).toEqual(range(31, 60));
    await say(stream, 1);
    expect(reader.held).toBe(1);
    expect(await seqs(reader, 1)).toEqual([61]);
    reader.close();
  });

  test('[G49] the buffer is bounded in bytes too, except for a single event', async () => {
    const stream = newStream();
    const reader = await open(stream);
    await say(stream, 1, 1_500_000);
    await say(stream, 1, 600_000);
    expect(reader.held).toBe(1);
    expect(await seqs(reader, 2)).toEqual([1, 2]);
    await say(stream, 1, 600_000);
    await say(stream, 1, 600_000);
    expect(reader.held).toBe(1);
    expect(await seqs(reader, 2)).toEqual([3, 4]);
    reader.close();
  });

  test('[G49] a large event is in memory once, also for readers at different positions that read it from the table', async () => {
    const stream = newStream();
    await say(stream, 2);
    await say(stream, 1, 2_000_000);
    await say(stream, 1);
    const readers = await Promise.all([0, 1, 2, 2].map((after) => open(stream, after)));
    const large = await Promise.all(
      readers.map(async (reader) => {
        for (;;) {
          const item = await reader.next();
          if (item?.kind === 'event' && item.event.seq === 3) return item.event;
        }
      }),
    );
    expect(new Set(large).size).toBe(1);
    for (const reader of readers) {
      expect(await seqs(reader, 1)).toEqual([4]);
      reader.close();
    }
  });

  test('[G49] a reader with many events to catch up with does not count as slow', async () => {
    const stream = newStream();
    await say(stream, 50);
    const reader = await open(stream, 0, { limits: { ...limits, streamBacklog: 10 } });
    expect(await seqs(reader, 1)).toEqual([1]);
    await say(stream, 50);
    expect(await seqs(reader, 99)).toEqual(range(2, 100));
    reader.close();
  });

  test('[G45] events whose notices were lost are found by look()', async () => {
    const stream = newStream();
    const deaf = await open(stream);
    await say(stream, 3, 1, createInProcessBus());
    await deaf.look();
    expect(await seqs(deaf, 3)).toEqual([1, 2, 3]);
    deaf.close();
  });

  test('[G45] a notice that only says that something may have been missed is enough', async () => {
    const stream = newStream();
    const { unreliable, setFate } = unreliableBus();
    const reader = await open(stream, undefined, { bus: unreliable });
    setFate('look');
    await say(stream, 2, 1, unreliable);
    expect(await seqs(reader, 2)).toEqual([1, 2]);
    reader.close();
  });

  test('[G43] [G45] a reader waits while the database is away, and misses nothing', async () => {
    const stream = newStream();
    let away = false;
    const flaky = {
      ...store,
      get db() {
        if (away) throw new Error('ECONNREFUSED');
        return store.db;
      },
    };
    await say(stream, 3);
    const reader = await open(stream, 1, { store: flaky });
    away = true;
    const first = reader.next();
    await expect(reader.look()).rejects.toThrow('ECONNREFUSED');
    away = false;
    await reader.look();
    expect(await first).toMatchObject({ kind: 'event', event: { seq: 2 } });
    expect(await seqs(reader, 1)).toEqual([3]);
    reader.close();
  });

  test('[G45] the table may be ahead of the notices, and each event still comes once', async () => {
    const stream = newStream();
    await say(stream, 2);
    const reader = await open(stream, 0);
    await say(stream, 2, 1, createInProcessBus());
    expect(await seqs(reader, 4)).toEqual([1, 2, 3, 4]);
    bus.publish([3, 4].map((seq) => ({ stream, seq, type: 'said', payload: {}, at: 0, revocations: 0 })));
    await say(stream, 1);
    expect(await seqs(reader, 1)).toEqual([5]);
    reader.close();
  });

  test('[G45] notices that are lost, doubled, out of order or without their event leave no gap and repeat nothing', async () => {
    const fate = fc.constantFrom<Fate>('told', 'lost', 'doubled', 'delayed', 'bare', 'look');
    const taking = fc.integer({ min: 0, max: 4 });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fate, taking), { minLength: 1, maxLength: 25 }), async (steps) => {
        const stream = newStream();
        const { unreliable, setFate } = unreliableBus();
        await say(stream, 3, 1, unreliable);
        const reader = await open(stream, 1, { bus: unreliable });
        const got: number[] = [];
        let said = 3;
        for (const [fateOfNext, count] of steps) {
          setFate(fateOfNext);
          await say(stream, 1, 1, unreliable);
          said++;
          // Events with a certain notice can be read without waiting.
          const sure = Math.min(count, (fateOfNext === 'told' ? said : 3) - 1 - got.length);
          if (sure > 0) got.push(...(await seqs(reader, sure)));
        }
        await reader.look();
        got.push(...(await seqs(reader, said - 1 - got.length)));
        expect(got).toEqual(range(2, said));
        reader.close();
      }),
      { numRuns: database.kind === 'sqlite' ? 60 : 15 },
    );
  });

  test('[G45] an answer of the database that is older than a notice received meanwhile does not move the reader back', async () => {
    const stream = newStream();
    const slow = slowAnswers(store);
    const reader = await open(stream, undefined, { store: slow.store });
    await say(stream, 1);
    expect(await seqs(reader, 1)).toEqual([1]);
    slow.hold();
    const looking = reader.look();
    await slow.answered(1);
    await say(stream, 1);
    expect(await seqs(reader, 1)).toEqual([2]);
    const third = reader.next();
    slow.release();
    await looking;
    await say(stream, 1);
    expect(await third).toMatchObject({ kind: 'event', event: { seq: 3 } });
    reader.close();
  });

  test('[G45] an event that is committed after the page was read and before the end is read is delivered, without a reset', async () => {
    const stream = newStream();
    const slow = slowAnswers(store);
    await say(stream, 1);
    const reader = await open(stream, undefined, { store: slow.store });
    // A notice may come before its event can be read.
    reader.expect(2);
    slow.hold();
    const next = reader.next();
    await slow.answered(1);
    await say(stream, 2);
    slow.release();
    expect(await next).toMatchObject({ kind: 'event', event: { seq: 2 } });
    expect(await seqs(reader, 1)).toEqual([3]);
    reader.close();
  });

  test('[G45] with any order of answers, notices and look() calls, each event comes once, in order, without a reset', async () => {
    const step = fc.constantFrom<Fate | 'looking' | 'release'>(
      ...(['told', 'lost', 'doubled', 'delayed', 'bare', 'look'] as const),
      ...(['looking', 'release', 'looking', 'release'] as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
        const stream = newStream();
        const { unreliable, setFate } = unreliableBus();
        const slow = slowAnswers(store);
        const reader = await open(stream, undefined, { bus: unreliable, store: slow.store });
        const items: (number | 'reset')[] = [];
        const reading = readAll(reader, items);
        slow.hold();
        let said = 0;
        for (const one of steps) {
          if (one === 'looking') reader.look().catch(() => {});
          else if (one === 'release') slow.releaseOne();
          else {
            setFate(one);
            await say(stream, 1, 1, unreliable);
            said++;
          }
        }
        slow.release();
        await reader.look();
        await expect.poll(() => items.length, { interval: 1 }).toBeGreaterThanOrEqual(said);
        reader.close();
        await reading;
        expect(items).toEqual(range(1, said));
      }),
      { numRuns: database.kind === 'sqlite' ? 100 : 40 },
    );
  });

  test('[G45] a reader that opens while others write misses nothing and gets nothing twice', async () => {
    const stream = newStream();
    const writers = Array.from({ length: 4 }, async () => {
      for (let index = 0; index < 15; index++) await say(stream, 2);
    });
    const readers = Array.from({ length: 5 }, async (_, index) => {
      await say(stream, 1);
      const reader = await open(stream, index % 2 === 0 ? undefined : 0);
      const from = reader.position;
      const all = 4 * 15 * 2 + 5;
      const got = await seqs(reader, all - from);
      reader.close();
      return [got, range(from + 1, all)];
    });
    await Promise.all(writers);
    for (const [got, expected] of await Promise.all(readers)) expect(got).toEqual(expected);
  });

  test('sweeping deletes what is older than the window, from the front, and says how far', async () => {
    const stream = newStream();
    await say(stream, 700);
    expect(await sweepStreams({ store, limits })).toBe(0);
    const later = Date.now() + limits.streamWindowMs + 60_000;
    const kept = newStream();
    expect(await sweepStreams({ store, limits }, { now: later })).toBeGreaterThanOrEqual(700);
    await say(kept, 1);
    expect(await store.db.selectFrom('stream_events').select('seq').where('stream', '=', stream).execute()).toEqual([]);
    const row = await store.db.selectFrom('streams').selectAll().where('id', '=', stream).executeTakeFirst();
    expect(row).toMatchObject({ next_seq: 701, swept_seq: 700, oldest_at: null });
    expect(await sweepStreams({ store, limits })).toBe(0);
  });

  test('a stream from which everything was swept is swept again when later events are old', async () => {
    const stream = newStream();
    const seqsLeft = async (): Promise<number[]> => {
      const rows = await store.db.selectFrom('stream_events').select('seq').where('stream', '=', stream).execute();
      return rows.map(({ seq }) => seq).sort();
    };
    const age = (from: number): Promise<unknown> =>
      store.transaction(async ({ db }) => {
        await db
          .updateTable('stream_events')
          .where('stream', '=', stream)
          .where('seq', '>=', from)
          .set({ created_at: from })
          .execute();
        await db.updateTable('streams').where('id', '=', stream).set({ oldest_at: from }).execute();
      });
    await say(stream, 2);
    await age(1);
    await say(stream, 2);
    expect(await sweepStreams({ store, limits })).toBe(2);
    expect(await seqsLeft()).toEqual([3, 4]);
    const { oldest_at } = await store.db
      .selectFrom('streams')
      .select('oldest_at')
      .where('id', '=', stream)
      .executeTakeFirstOrThrow();
    expect(Number(oldest_at)).toBeGreaterThan(Date.now() - 60_000);
    await age(3);
    expect(await sweepStreams({ store, limits })).toBe(2);
    await say(stream, 1);
    const later = Date.now() + limits.streamWindowMs + 60_000;
    expect(await sweepStreams({ store, limits }, { now: later })).toBeGreaterThanOrEqual(1);
    expect(await seqsLeft()).toEqual([]);
  });

  test('sweeping leaves no hole, even if an earlier event has a later time', async () => {
    const stream = newStream();
    await say(stream, 4);
    await store.transaction(async ({ db }) => {
      await db
        .updateTable('stream_events')
        .where('stream', '=', stream)
        .set({ created_at: 1 })
        .where('seq', '=', 2)
        .execute();
      await db.updateTable('streams').where('id', '=', stream).set({ oldest_at: 1 }).execute();
    });
    expect(await sweepStreams({ store, limits })).toBe(2);
    const left = await store.db.selectFrom('stream_events').select('seq').where('stream', '=', stream).execute();
    expect(left.map(({ seq }) => seq).sort()).toEqual([3, 4]);
  });

  test('an event from the future keeps those after it no longer than a new one would', async () => {
    const stream = newStream();
    await say(stream, 3);
    const future = Date.now() + 1_000 * limits.streamWindowMs;
    await store.transaction(async ({ db }) => {
      const own = db.updateTable('stream_events').where('stream', '=', stream);
      await own.set({ created_at: future }).where('seq', '=', 2).execute();
      await own.set({ created_at: 1 }).where('seq', '=', 1).execute();
      await db.updateTable('streams').where('id', '=', stream).set({ oldest_at: 1 }).execute();
    });
    expect(await sweepStreams({ store, limits })).toBe(1);
    const later = Date.now() + limits.streamWindowMs + 60_000;
    expect(await sweepStreams({ store, limits }, { now: later })).toBeGreaterThanOrEqual(2);
    const left = await store.db.selectFrom('stream_events').select('seq').where('stream', '=', stream).execute();
    expect(left).toEqual([]);
  });
});

type Fate = 'told' | 'lost' | 'doubled' | 'delayed' | 'bare' | 'look';

/** A bus that keeps only the guarantees of the port. */
function unreliableBus(): { unreliable: Bus; setFate: (fate: Fate) => void } {
  const inner = new Set<(notice: StreamNotice) => void>();
  const delayed: StreamNotice[] = [];
  let fate: Fate = 'told';
  const tell = (notice: StreamNotice): void => {
    for (const listener of inner) listener(notice);
  };
  const unreliable: Bus = {
    publish(events: readonly StreamEvent[]) {
      for (const event of events) {
        const { stream, seq } = event;
        if (fate === 'delayed') delayed.push({ stream, seq, event });
        if (fate === 'told' || fate === 'doubled') tell({ stream, seq, event });
        if (fate === 'doubled') tell({ stream, seq, event });
        if (fate === 'bare') tell({ stream, seq });
        if (fate === 'look') tell({ stream, seq: 0 });
        if (fate !== 'delayed') for (const late of delayed.splice(0)) tell(late);
      }
    },
    subscribe(_stream, listener) {
      inner.add(listener);
      return () => inner.delete(listener);
    },
    async start() {},
    async stop() {},
  };
  return { unreliable, setFate: (next) => void (fate = next) };
}

/** A store that holds its answers until the test releases them, oldest first. */
function slowAnswers(store: Store): {
  store: Store;
  hold(): void;
  /** Resolves once this many answers wait. */
  answered(count: number): Promise<void>;
  releaseOne(): void;
  release(): void;
} {
  const waiting: (() => void)[] = [];
  let isHolding = false;
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (isHolding) await new Promise<void>((resolve) => void waiting.push(resolve));
      return result;
    },
  };
  const db = store.db.withPlugin(plugin);
  return {
    store: { ...store, db },
    hold: () => void (isHolding = true),
    answered: (count) => expect.poll(() => waiting.length, { interval: 1 }).toBe(count),
    releaseOne: () => waiting.shift()?.(),
    release() {
      isHolding = false;
      for (const go of waiting.splice(0)) go();
    },
  };
}

async function readAll(reader: StreamReader, items: (number | 'reset')[]): Promise<void> {
  for (let item = await reader.next(); item !== undefined; item = await reader.next())
    items.push(item.kind === 'reset' ? 'reset' : item.event.seq);
}

async function seqs(reader: StreamReader, count: number): Promise<number[]> {
  const got: number[] = [];
  while (got.length < count) {
    const item = await reader.next();
    if (item?.kind !== 'event') throw new Error(`Not an event: ${JSON.stringify(item)}`);
    got.push(item.event.seq);
  }
  return got;
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
