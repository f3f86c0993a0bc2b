import { expect, test } from 'vitest';
import { AdmissionQueue, type Wait } from '../../src/runtime/admission-queue.ts';

const urgent = { isUrgent: true };
const urgentAgain = { isUrgent: true, hadTurn: true };
const other = { isUrgent: false };

/** The names of the admitted threads, in order. They start at once, unless the test says otherwise. */
function follow(queue: AdmissionQueue, { start = () => queue.started() }: { start?: () => void } = {}) {
  const admitted: string[] = [];
  const acquire = (name: string, wait: Wait = other): void =>
    void queue.acquire(name, wait).then(() => {
      admitted.push(name);
      start();
    });
  return { admitted, acquire };
}

const settled = (): Promise<unknown> => new Promise(setImmediate);

test('only as many threads as there are slots are admitted, and a freed slot goes to an urgent thread first', async () => {
  const queue = new AdmissionQueue({ slots: 2, startsAtOnce: 8, isBusy: () => false });
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
  const queue = new AdmissionQueue({ slots: 10, startsAtOnce: 8, isBusy: () => isBusy, now: () => 0 });
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
  await expect.poll(() => admitted).toEqual(['a', 'person', 'c', 'b', 'a again']);
});

test('a store that stays busy for ever starves no thread', async () => {
  let now = 0;
  const queue = new AdmissionQueue({ slots: 10, startsAtOnce: 8, isBusy: () => true, now: () => now });
  const { admitted, acquire } = follow(queue);
  for (const name of ['a', 'b', 'c']) acquire(name);
  await settled();
  expect(admitted).toEqual(['a']);
  now += 21;
  await expect.poll(() => admitted).toEqual(['a', 'b']);
  now += 21;
  await expect.poll(() => admitted).toEqual(['a', 'b', 'c']);
});

test('urgent threads that never stop coming do not starve the others', async () => {
  const queue = new AdmissionQueue({ slots: 1, startsAtOnce: 8, isBusy: () => false });
  const { admitted, acquire } = follow(queue);
  for (let index = 0; index < 20; index++) acquire(`person ${index}`, urgent);
  acquire('other');
  for (let index = 0; index < 20; index++) queue.release();
  await settled();
  expect(admitted).toHaveLength(21);
  // The first one went before it came, and eight ahead of it.
  expect(admitted.indexOf('other')).toBe(9);
});

test('many threads are admitted in small bursts, so that the store is asked in between', async () => {
  let asked = 0;
  const queue = new AdmissionQueue({ slots: 1_000, startsAtOnce: 8, isBusy: () => ++asked < 0 });
  const { admitted, acquire } = follow(queue);
  for (let index = 0; index < 100; index++) acquire(String(index));
  await settled();
  expect(admitted.length).toBeLessThan(50);
  await expect.poll(() => admitted.length).toBe(100);
  expect(admitted).toEqual(Array.from({ length: 100 }, (_, index) => String(index)));
});

test('after admitAll no thread waits', async () => {
  const queue = new AdmissionQueue({ slots: 0, startsAtOnce: 8, isBusy: () => true });
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

test('a thread that a person woke goes before those that had a run and have more to do', async () => {
  const queue = new AdmissionQueue({ slots: 1, startsAtOnce: 8, isBusy: () => false });
  const { admitted, acquire } = follow(queue);
  acquire('runs now', urgent);
  for (const name of ['busy 1', 'busy 2', 'busy 3']) acquire(name, urgentAgain);
  acquire('idle', urgent);
  acquire('idle too', urgent);
  for (let index = 0; index < 5; index++) queue.release();
  await settled();
  expect(admitted).toEqual(['runs now', 'idle', 'idle too', 'busy 1', 'busy 2', 'busy 3']);
});

test('threads that have more to do take turns, one run each', async () => {
  const queue = new AdmissionQueue({ slots: 1, startsAtOnce: 8, isBusy: () => false });
  const { admitted, acquire } = follow(queue);
  for (const name of ['a', 'b', 'c']) acquire(name, urgentAgain);
  for (const name of ['a', 'b', 'c', 'a', 'b']) {
    await settled();
    queue.release();
    acquire(name, urgentAgain);
  }
  await settled();
  expect(admitted).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
});

test('threads that people keep waking do not starve those that have more to do', async () => {
  const queue = new AdmissionQueue({ slots: 1, startsAtOnce: 8, isBusy: () => false });
  const { admitted, acquire } = follow(queue);
  acquire('runs now', urgent);
  acquire('other');
  acquire('busy', urgentAgain);
  for (let index = 0; index < 30; index++) acquire(`idle ${index}`, urgent);
  for (let index = 0; index < 32; index++) queue.release();
  await settled();
  expect(admitted.indexOf('other')).toBe(9);
  expect(admitted.indexOf('busy')).toBe(18);
});

test('few threads start at a time, and one that comes later is let ahead of those that wait', async () => {
  const queue = new AdmissionQueue({ slots: 100, startsAtOnce: 8, isBusy: () => false, now: () => 0 });
  const { admitted, acquire } = follow(queue, { start: () => {} });
  for (let index = 0; index < 20; index++) acquire(`busy ${index}`, urgentAgain);
  acquire('idle', urgent);
  await settled();
  expect(admitted).toHaveLength(8);
  queue.started();
  await settled();
  expect(admitted.slice(8)).toEqual(['idle']);
});

test('threads that cannot start do not hold up the others for ever', async () => {
  let now = 0;
  const queue = new AdmissionQueue({ slots: 100, startsAtOnce: 8, isBusy: () => false, now: () => now });
  const { admitted, acquire } = follow(queue, { start: () => {} });
  for (let index = 0; index < 10; index++) acquire(`stuck ${index}`, urgent);
  await settled();
  expect(admitted).toHaveLength(8);
  now += 21;
  await expect.poll(() => admitted.length).toBe(9);
  now += 21;
  await expect.poll(() => admitted.length).toBe(10);
});
