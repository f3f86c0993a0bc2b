import { expect, test } from 'vitest';
import { AdmissionQueue } from '../../src/runtime/admission-queue.ts';

const urgent = { isUrgent: true };
const other = { isUrgent: false };

/** The names of the admitted threads, in order. */
function follow(queue: AdmissionQueue) {
  const admitted: string[] = [];
  const acquire = (name: string, options = other): void =>
    void queue.acquire(name, options).then(() => void admitted.push(name));
  return { admitted, acquire };
}

/** For what comes with a timer of the queue, on a machine that has much else to do. */
const PATIENCE = { timeout: 10_000 };
const settled = (): Promise<unknown> => new Promise(setImmediate);

test('only as many threads as there are slots are admitted, and a freed slot goes to an urgent thread first', async () => {
  const queue = new AdmissionQueue({ slots: 2, isBusy: () => false });
  const { admitted, acquire } = follow(queue);
  for (const name of ['a', 'b', 'c', 'd']) acquire(name);
  acquire('person', urgent);
  await settled();
  expect(admitted).toEqual(['a', 'b']);
  queue.release();
  await settled();
  expect(admitted).toEqual(['a', 'b', 'person']);
  queue.release();
  queue.release();
  await settled();
  expect(admitted).toEqual(['a', 'b', 'person', 'c', 'd']);
});

test('while the store is busy, urgent threads are admitted and all others wait, also those that hold a slot', async () => {
  let isBusy = true;
  const queue = new AdmissionQueue({ slots: 10, isBusy: () => isBusy, now: () => 0 });
  const { admitted, acquire } = follow(queue);
  acquire('a');
  // The queue was idle until now, so one thread is admitted, whatever the store says.
  await settled();
  expect(admitted).toEqual(['a']);
  acquire('b');
  acquire('c');
  acquire('person', urgent);
  void queue.nextTurn('a', other).then(() => void admitted.push('a again'));
  await settled();
  expect(admitted).toEqual(['a', 'person']);
  queue.prioritize('c');
  await settled();
  expect(admitted).toEqual(['a', 'person', 'c']);
  isBusy = false;
  await expect.poll(() => admitted, PATIENCE).toEqual(['a', 'person', 'c', 'b', 'a again']);
});

test('a store that stays busy for ever starves no thread', async () => {
  let now = 0;
  const queue = new AdmissionQueue({ slots: 10, isBusy: () => true, now: () => now });
  const { admitted, acquire } = follow(queue);
  for (const name of ['a', 'b', 'c']) acquire(name);
  await settled();
  expect(admitted).toEqual(['a']);
  now += 21;
  await expect.poll(() => admitted, PATIENCE).toEqual(['a', 'b']);
  now += 21;
  await expect.poll(() => admitted, PATIENCE).toEqual(['a', 'b', 'c']);
});

test('urgent threads that never stop coming do not starve the others', async () => {
  const queue = new AdmissionQueue({ slots: 1, isBusy: () => false });
  const { admitted, acquire } = follow(queue);
  for (let index = 0; index < 20; index++) acquire(`person ${index}`, urgent);
  acquire('other');
  for (let index = 0; index < 20; index++) queue.release();
  await settled();
  expect(admitted).toHaveLength(21);
  expect(admitted.indexOf('other')).toBe(8);
});

test('many threads are admitted in small bursts, so that the store is asked in between', async () => {
  let asked = 0;
  const queue = new AdmissionQueue({ slots: 1_000, isBusy: () => ++asked < 0 });
  const { admitted, acquire } = follow(queue);
  for (let index = 0; index < 100; index++) acquire(String(index));
  await settled();
  expect(admitted.length).toBeLessThan(50);
  await expect.poll(() => admitted.length, PATIENCE).toBe(100);
  expect(admitted).toEqual(Array.from({ length: 100 }, (_, index) => String(index)));
});

test('after admitAll no thread waits', async () => {
  const queue = new AdmissionQueue({ slots: 0, isBusy: () => true });
  const { admitted, acquire } = follow(queue);
  acquire('a');
  acquire('b', urgent);
  await settled();
  expect(admitted).toEqual([]);
  queue.admitAll();
  acquire('c');
  await settled();
  expect(admitted.toSorted()).toEqual(['a', 'b', 'c']);
});
