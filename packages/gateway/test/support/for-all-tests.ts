import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';

type Opened = { close(): Promise<unknown> } | { stop(): Promise<unknown> } | { remove(): Promise<unknown> };

/**
 * An object that the tests of a block share: opened before the first of them, closed after the last, in reverse order. The returned
 * value is a proxy, which can be used only while tests run: while they are collected there is no object behind it.
 */
export function forAllTests<T extends Opened>(open: () => Promise<T>): T {
  const held = hold(open);
  beforeAll(held.open);
  afterAll(held.close);
  return held.value;
}

/** The same, with a new object for each test. */
export function forEachTest<T extends Opened>(open: () => Promise<T>): T {
  const held = hold(open);
  beforeEach(held.open);
  afterEach(held.close);
  return held.value;
}

function hold<T extends Opened>(
  openOne: () => Promise<T>,
): { value: T; open(): Promise<void>; close(): Promise<void> } {
  let opened: T | undefined;
  const current = (): T => {
    if (opened === undefined) throw new Error('What tests share was asked for while no test runs.');
    return opened;
  };
  const value = new Proxy({} as T, {
    get: (_, key) => Reflect.get(current(), key, current()),
    // Allows the proxy to be spread.
    ownKeys: () => Reflect.ownKeys(current()),
    getOwnPropertyDescriptor(_, key) {
      const descriptor = Reflect.getOwnPropertyDescriptor(current(), key);
      return descriptor && { ...descriptor, configurable: true };
    },
  });
  return {
    value,
    async open() {
      opened = await openOne();
    },
    async close() {
      const last = opened;
      opened = undefined;
      if (last !== undefined) await closeOne(last);
    },
  };
}

async function closeOne(opened: Opened): Promise<void> {
  if ('close' in opened) await opened.close();
  else if ('stop' in opened) await opened.stop();
  else await opened.remove();
}
