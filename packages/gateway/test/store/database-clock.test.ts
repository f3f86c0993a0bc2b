import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { openPostgresStore } from '../../src/ports/store/postgres/postgres-store.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { onPostgres } from '../support/stores.ts';

const database = forAllTests(onPostgres.create);

/** The difference between the store's clock and this machine's, which is also the server's. */
const differenceOf = async (store: Store): Promise<number> => {
  const now = await store.transaction(async (tx) => tx.now());
  return Math.abs(now - Date.now());
};

test('the time that it takes to connect does not move the clock of the database', async () => {
  const url = new URL(database.location);
  url.searchParams.set('options', '-c post_auth_delay=2');
  const store = await openPostgresStore({ url: url.href, connections: 1 });
  const difference = await differenceOf(store);
  await store.close();
  // If the two seconds counted, the difference would be half of them.
  expect(difference).toBeLessThan(800);
});

test('an answer that a busy process reads late does not move the clock of the database', async () => {
  const store = await database.open();
  let isAnswered = false;
  const asking = store.ping().then(() => {
    isAnswered = true;
  });
  while (!isAnswered) {
    const until = Date.now() + 1_000;
    while (Date.now() < until);
    await turnOfTheLoop();
  }
  await asking;
  const difference = await differenceOf(store);
  await store.close();
  // If the second counted, the difference would be half of it.
  expect(difference).toBeLessThan(300);
});

test.each([3_600_000, -3_600_000])(
  'a clock of the machine that is set by %i ms while the gateway runs does not move the clock of the database',
  async (jumpMs) => {
    const store = await database.open();
    const before = Date.now();
    const now = vi.spyOn(Date, 'now').mockImplementation(() => before + jumpMs);
    const stored = await store.transaction(async (tx) => tx.now());
    now.mockRestore();
    await store.close();
    expect(stored).toBeGreaterThan(before - 1_000);
    expect(stored).toBeLessThan(Date.now() + 1_000);
  },
);
