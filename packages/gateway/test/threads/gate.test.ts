import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Gate } from '../../src/runtime/gate.ts';

const first = { isUrgent: true };
const other = { isUrgent: false };

/** Who went, in order. */
function follow(gate: Gate) {
  const went: string[] = [];
  const enter = (name: string, options = other): void =>
    void gate.enter(name, options).then(() => void went.push(name));
  return { went, enter };
}

const settled = (): Promise<unknown> => new Promise(setImmediate);

test('so many have a place; who comes later goes when one is given back, first whom somebody waits for', async () => {
  const gate = new Gate({ places: 2, isBusy: () => false });
  const { went, enter } = follow(gate);
  for (const name of ['a', 'b', 'c', 'd']) enter(name);
  enter('person', first);
  await settled();
  expect(went).toEqual(['a', 'b']);
  expect([gate.isWaiting('b'), gate.isWaiting('c'), gate.isWaiting('person')]).toEqual([false, true, true]);
  gate.leave();
  await settled();
  expect(went).toEqual(['a', 'b', 'person']);
  gate.leave();
  gate.leave();
  await settled();
  expect(went).toEqual(['a', 'b', 'person', 'c', 'd']);
});

test('while the store is busy others wait, whom somebody waits for does not, and who is inside goes on by the same rule', async () => {
  let isBusy = true;
  const gate = new Gate({ places: 10, isBusy: () => isBusy });
  const { went, enter } = follow(gate);
  enter('a');
  // Long enough idle: one goes whatever the store says.
  await settled();
  expect(went).toEqual(['a']);
  enter('b');
  enter('c');
  enter('person', first);
  void gate.goOn('a', other).then(() => void went.push('a again'));
  await settled();
  expect(went).toEqual(['a', 'person']);
  gate.hurry('c');
  await settled();
  expect(went).toEqual(['a', 'person', 'c']);
  isBusy = false;
  await expect.poll(() => went).toEqual(['a', 'person', 'c', 'b', 'a again']);
});

test('a store that others keep busy for ever lets nobody starve', async () => {
  const gate = new Gate({ places: 10, isBusy: () => true });
  const { went, enter } = follow(gate);
  for (const name of ['a', 'b', 'c']) enter(name);
  await expect.poll(() => went, { timeout: 10_000 }).toEqual(['a', 'b', 'c']);
});

test('many at once go in small parts, so that the store is asked in between', async () => {
  let asked = 0;
  const gate = new Gate({ places: 1_000, isBusy: () => ++asked < 0 });
  const { went, enter } = follow(gate);
  for (let index = 0; index < 100; index++) enter(String(index));
  await settled();
  expect(went.length).toBeLessThan(50);
  await expect.poll(() => went.length, { timeout: 10_000 }).toBe(100);
  expect(went).toEqual(Array.from({ length: 100 }, (_, index) => String(index)));
});

test('opened, it keeps nobody', async () => {
  const gate = new Gate({ places: 0, isBusy: () => true });
  const { went, enter } = follow(gate);
  enter('a');
  enter('b', first);
  await sleep(50);
  expect(went).toEqual([]);
  gate.open();
  enter('c');
  await settled();
  expect(went.toSorted()).toEqual(['a', 'b', 'c']);
});
