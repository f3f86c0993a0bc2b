import { expect, test } from 'vitest';
import { WriteQueue } from '../../src/runtime/journal/write-queue.ts';
import type { Write } from '../../src/runtime/run/run-write.ts';

const record = (callId: string): Write => ({ kind: 'call-started', callId });
const live = (type: string): Write => ({ kind: 'space-event', spaceId: 'hall', type, payload: {} });
const nameOf = (write: Write): string => ('callId' in write ? write.callId : 'type' in write ? write.type : write.kind);

/** A queue whose transactions end when the test says so. */
function openQueue() {
  const transactions: { readonly names: string[]; readonly end: PromiseWithResolvers<void> }[] = [];
  const queue = new WriteQueue((writes) => {
    const end = Promise.withResolvers<void>();
    transactions.push({ names: writes.map(nameOf), end });
    return end.promise;
  });
  const names = (): string[][] => transactions.map((one) => one.names);
  const end = async (at: number): Promise<void> => {
    transactions[at]?.end.resolve();
    await new Promise(setImmediate);
  };
  return { queue, names, end, transactions };
}

test('waiting writes are written in order, in one transaction with the next write', async () => {
  const { queue, names, end } = openQueue();
  queue.add([live('start')]);
  queue.add([record('reply')]);
  const writing = queue.write([record('started')]);
  expect(names()).toEqual([['start', 'reply', 'started']]);
  await end(0);
  await writing;
});

test('nothing is written before it is requested, also after another transaction', async () => {
  const { queue, names, end } = openQueue();
  void queue.write([record('a')]);
  queue.add([live('delta')]);
  await end(0);
  expect(names()).toEqual([['a']]);
  queue.flush();
  expect(names()).toEqual([['a'], ['delta']]);
});

test('writes that arrive during a transaction share the next one', async () => {
  const { queue, names, end } = openQueue();
  queue.add([record('a')]);
  queue.flush();
  for (const name of ['b', 'c', 'd']) {
    queue.add([record(name)]);
    queue.flush();
  }
  await end(0);
  expect(names()).toEqual([['a'], ['b', 'c', 'd']]);
});

test('a write that may be refused takes no record with it, neither earlier nor later ones', async () => {
  const { queue, names, end } = openQueue();
  queue.add([record('earlier')]);
  void queue.write([record('alone')], { isAlone: true });
  queue.add([record('later')]);
  queue.flush();
  for (const at of [0, 1, 2]) await end(at);
  expect(names()).toEqual([['earlier'], ['alone'], ['later']]);
});

test('a write that may be refused takes the events of spaces with it', () => {
  const { queue, names } = openQueue();
  queue.add([live('start'), live('delta')]);
  void queue.write([record('alone')], { isAlone: true });
  expect(names()).toEqual([['start', 'delta', 'alone']]);
});

test('after a failure nothing is written, and each later write throws it', async () => {
  const { queue, names, transactions } = openQueue();
  const failing = queue.write([record('a')]);
  const behind = queue.write([record('b')]);
  const failure = new Error('The store is away.');
  transactions[0]?.end.reject(failure);
  await expect(failing).rejects.toBe(failure);
  await expect(behind).rejects.toBe(failure);
  await expect(queue.write([record('c')])).rejects.toBe(failure);
  expect(() => queue.assertSound()).toThrow(failure);
  expect(names()).toEqual([['a']]);
});

test('a flush with nothing to write leaves the queue ready for the next', () => {
  const { queue, names } = openQueue();
  queue.flush();
  void queue.write([record('a')]);
  expect(names()).toEqual([['a']]);
});
