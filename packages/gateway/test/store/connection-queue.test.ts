import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ConnectionQueue } from '../../src/ports/store/postgres/connection-queue.ts';
import { StoreUnavailable } from '../../src/ports/store/store-error.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const settled = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);

test('1: no more callers than connections use one at a time', async () => {
  const queue = new ConnectionQueue({ connections: 2, silenceMs: 10_000 });
  let using = 0;
  for (let caller = 0; caller < 5; caller++) void queue.turn({ isUrgent: true }).then(() => using++);
  await settled();
  expect(using).toBe(2);
  queue.pass();
  await settled();
  expect(using).toBe(3);
});

test('1: a connection that was returned while no caller waited is used again', async () => {
  const queue = new ConnectionQueue({ connections: 1, silenceMs: 10_000 });
  for (let round = 0; round < 3; round++) {
    await queue.turn({ isUrgent: false });
    queue.pass();
  }
});

test('2: urgent callers go first, and the others do not starve', async () => {
  const queue = new ConnectionQueue({ connections: 1, silenceMs: 10_000 });
  await queue.turn({ isUrgent: true });
  const order: string[] = [];
  void queue.turn({ isUrgent: false }).then(() => order.push('other'));
  for (let caller = 0; caller < 20; caller++) void queue.turn({ isUrgent: true }).then(() => order.push('urgent'));
  for (let turn = 0; turn < 21; turn++) {
    queue.pass();
    await settled();
  }
  expect(order).toHaveLength(21);
  expect(order[0]).toBe('urgent');
  expect(order.indexOf('other')).toBeLessThan(10);
});

test('3: waiting does not fail, however long it takes, while connections are returned', async () => {
  const queue = new ConnectionQueue({ connections: 1, silenceMs: 10_000 });
  await queue.turn({ isUrgent: true });
  const waiting = Array.from({ length: 10 }, () => queue.turn({ isUrgent: true }));
  for (const turn of waiting) {
    await vi.advanceTimersByTimeAsync(9_000);
    queue.pass();
    await turn;
  }
});

test('3: all waiting callers get the error that the database does not answer if no connection was returned for the time', async () => {
  const queue = new ConnectionQueue({ connections: 1, silenceMs: 10_000 });
  await queue.turn({ isUrgent: true });
  const waiting = [queue.turn({ isUrgent: true }), queue.turn({ isUrgent: false })];
  const refused = Promise.all(waiting.map((turn) => expect(turn).rejects.toThrow(StoreUnavailable)));
  await vi.advanceTimersByTimeAsync(10_000);
  await refused;
  // The connection that is returned later is used by the next caller.
  queue.pass();
  await queue.turn({ isUrgent: true });
});

test('3: connections that cannot be opened do not count as returned', async () => {
  const queue = new ConnectionQueue({ connections: 1, silenceMs: 10_000 });
  await queue.turn({ isUrgent: true });
  const waiting = Array.from({ length: 5 }, () => queue.turn({ isUrgent: true }));
  const ended = Promise.allSettled(waiting);
  for (let opened = 0; opened < 2; opened++) {
    await vi.advanceTimersByTimeAsync(4_000);
    queue.forgo();
  }
  await vi.advanceTimersByTimeAsync(2_000);
  expect((await ended).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', ...Array(3).fill('rejected')]);
});

test('4: a caller whose connection the server has no room for gets one that is returned, and the server is asked again later', async () => {
  const queue = new ConnectionQueue({ connections: 2, silenceMs: 10_000, crowdedMs: 1_000 });
  await Promise.all([queue.turn({ isUrgent: true }), queue.turn({ isUrgent: true })]);
  let using = 1;
  for (let caller = 0; caller < 2; caller++) void queue.turnOfAnother({ isUrgent: true }).then(() => using++);
  await settled();
  expect(using).toBe(1);
  queue.pass();
  await settled();
  expect(using).toBe(2);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(using).toBe(3);
});
