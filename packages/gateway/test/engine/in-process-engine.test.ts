import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createInProcessEngine } from '../../src/ports/engine/in-process-engine.ts';
import { openSqliteStore } from '../../src/ports/store/sqlite-store.ts';
import type { Store } from '../../src/ports/store/store.ts';

let store: Store;
const home = mkdtempSync(join(tmpdir(), 'lastcall-engine-'));
beforeAll(async () => {
  store = await openSqliteStore({ home, synchronous: 'NORMAL' });
});
afterAll(async () => {
  await store.close();
  rmSync(home, { recursive: true });
});

test('[G44] who is to be woken in hours is left to the sweep, and has no timer; who is in seconds has one', async () => {
  const engine = createInProcessEngine();
  await engine.start(async () => {});
  const timers = vi.spyOn(globalThis, 'setTimeout');
  await store.transaction((tx) => engine.enqueue(tx, 'far', Date.now() + 7_200_000));
  expect(timers).not.toHaveBeenCalled();
  await store.transaction((tx) => engine.enqueue(tx, 'near', Date.now() + 30_000));
  expect(timers).toHaveBeenCalledOnce();
  timers.mockRestore();
  await engine.stop();
});
