import { createHook } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { createInProcessEngine } from '../../src/ports/engine/in-process-engine.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { onSqlite } from '../support/stores.ts';

const database = forAllTests(onSqlite.create);
const store = forAllTests(() => database.open());
const engine = forAllTests(async () => createInProcessEngine());

test('[G44] a wake that is hours away costs no timer, and one that is seconds away costs one', async () => {
  await engine.start(async () => {});
  let timers = 0;
  const watch = createHook({ init: (_id, type) => void (timers += type === 'Timeout' ? 1 : 0) }).enable();
  await store.transaction((tx) => engine.enqueue(tx, 'far', Date.now() + 7_200_000));
  expect(timers).toBe(0);
  await store.transaction((tx) => engine.enqueue(tx, 'near', Date.now() + 30_000));
  expect(timers).toBe(1);
  watch.disable();
});
