import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

const source = ['@lastcall/source'];

export default defineConfig({
  resolve: { conditions: source },
  ssr: { resolve: { conditions: source } },
  test: {
    // For what never ends: no test is held to a time, and a busy machine fails none.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    // Many tests wait, for other processes or for time to pass: on two cores two workers would leave them idle for a fifth of the time.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    // Tests that run side by side in one file start two or three processes each.
    maxConcurrency: 3,
    // No module of ours keeps state that a test could leave behind, so a worker loads them once (decision 0130).
    isolate: false,
    // Programs that tests start load what others have compiled before them.
    env: { NODE_COMPILE_CACHE: join(tmpdir(), 'lastcall-compile-cache') },
    // Packages run from source: the same files that `npm start` runs, no build in between.
    projects: [
      { extends: true, test: { name: 'core', include: ['packages/core/test/**/*.test.ts'] } },
      { extends: true, test: { name: 'machines', include: ['packages/machines/test/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          name: 'gateway',
          include: ['packages/gateway/test/**/*.test.ts'],
          exclude: ['packages/gateway/test/hostile/**'],
          globalSetup: ['packages/gateway/test/support/global-setup.ts'],
          // Many start processes, which takes seconds on a machine that runs other tests too.
          testTimeout: 120_000,
        },
      },
      // It measures its own process, so it has one to itself.
      { extends: true, test: { name: 'hostile', include: ['packages/gateway/test/hostile/*.test.ts'], isolate: true } },
      // Each test starts several processes, one after the other.
      {
        extends: true,
        test: {
          name: 'cli',
          include: ['packages/cli/test/**/*.test.ts'],
          globalSetup: ['packages/cli/test/support/global-setup.ts'],
          testTimeout: 180_000,
        },
      },
      { extends: true, test: { name: 'client', include: ['packages/client/test/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          name: 'studio',
          include: ['packages/studio/test/**/*.test.ts'],
          globalSetup: [
            'packages/gateway/test/support/global-setup.ts',
            'packages/studio/test/support/global-setup.ts',
          ],
          // Pages and what they wait for: more than the minute that each of its steps may take.
          testTimeout: 180_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'examples',
          include: ['examples/**/*.test.ts'],
          globalSetup: ['examples/browser.ts'],
          testTimeout: 120_000,
        },
      },
    ],
  },
});
