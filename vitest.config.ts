import { defineConfig } from 'vitest/config';

const source = ['@lastcall/source'];

export default defineConfig({
  resolve: { conditions: source },
  ssr: { resolve: { conditions: source } },
  test: {
    // Packages run from source: the same files that `npm start` runs, no build in between.
    projects: [
      { extends: true, test: { name: 'core', include: ['packages/core/test/**/*.test.ts'] } },
      { extends: true, test: { name: 'machines', include: ['packages/machines/test/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          name: 'gateway',
          include: ['packages/gateway/test/**/*.test.ts'],
          globalSetup: ['packages/gateway/test/support/global-setup.ts'],
          testTimeout: 30_000,
          hookTimeout: 30_000,
        },
      },
      { extends: true, test: { name: 'examples', include: ['examples/**/*.test.ts'] } },
    ],
  },
});
