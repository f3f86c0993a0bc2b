import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { bundleAll } from './scripts/bundle.js';
import { memoryFolder } from './scripts/memory-folder.js';

/** This file is loaded anew for each project: only what is global is the same for all of them. */
const shared = globalThis as { lastcallBundles?: Promise<void>; lastcallFolder?: string };
// Processes that tests start run the packages as they are published, and so do the global set-ups below: bundle them first.
shared.lastcallBundles ??= bundleAll();
await shared.lastcallBundles;
shared.lastcallFolder ??= process.env.TMPDIR ?? memoryFolder() ?? tmpdir();

/**
 * What tests draw by chance comes from this seed. It is another one each day, so that tests look further, and the same all day, so that
 * a failure can be repeated.
 */
const SEED = process.env.SEED ?? String(Math.floor(Date.now() / 86_400_000));

/**
 * For projects that test packages: these run from source, the same files that `npm start` runs, with no build in between. Node.js loads
 * them itself. Vite would turn each import into a property that a getter reads, which makes tests slower (decision 0046).
 */
const fromSource = {
  execArgv: ['--conditions=@lastcall/source'],
  experimental: { viteModuleRunner: false, nodeLoader: false },
};
/**
 * For projects that only use a gateway: a worker loads one bundle of it instead of a thousand files, which Vite would have to transform.
 * What such a project tests itself, it imports by path, from source.
 */
const bundled = { server: { deps: { external: [/\/packages\/\w+\/dist\//] } } };

/** Those whose files take long come first; core comes last, whose many short files leave no core of the machine idle at the end. */
const ORDER = ['cli', 'examples', 'studio', 'gateway', 'hostile', 'client', 'machines', 'core'];

/** The first of their projects: most of their time they wait for processes, and a run must not wait for them at its end. */
const WAITING = /\/(install|docs|killed|streams)\.test\.ts$/;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ project, moduleId }: TestSpecification): number =>
      ORDER.indexOf(project.name) + (WAITING.test(moduleId) ? 0 : 0.5);
    return (await super.sort(files)).sort((one, other) => place(one) - place(other));
  }
}

export default defineConfig({
  test: {
    // For what never ends: no test is held to a time, and a slow or busy machine fails none. A test may wait several times.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 60_000 } },
    // Many tests wait, for other processes or for time to pass: two or three workers on two cores are no faster (decision 0046).
    maxWorkers: Math.max(4, availableParallelism() - 1),
    sequence: { sequencer: LongestFirst },
    setupFiles: [join(import.meta.dirname, 'scripts/seed-properties.js')],
    // Tests that run side by side in one file start two or three processes each.
    maxConcurrency: 3,
    // No module of ours keeps state that a test could leave behind, so a worker loads them once (decision 0005).
    isolate: false,
    env: {
      // Programs that tests start load what others have compiled before them.
      NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/compiled'),
      SEED,
      // Where tests keep temporary files, and where those do that kill gateways or servers.
      TMPDIR: shared.lastcallFolder,
      DISK_FOLDER: tmpdir(),
    },
    projects: [
      {
        extends: true,
        test: { ...fromSource, name: 'core', include: ['packages/core/test/**/*.test.ts', 'bench/test/*.test.ts'] },
      },
      { extends: true, test: { ...fromSource, name: 'machines', include: ['packages/machines/test/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          ...fromSource,
          name: 'gateway',
          include: ['packages/gateway/test/**/*.test.ts'],
          exclude: ['packages/gateway/test/hostile/**'],
          globalSetup: ['packages/gateway/test/support/global-setup.ts'],
        },
      },
      // It measures its own process, so it has one to itself.
      {
        extends: true,
        test: { ...fromSource, name: 'hostile', include: ['packages/gateway/test/hostile/*.test.ts'], isolate: true },
      },
      {
        extends: true,
        test: {
          name: 'cli',
          ...bundled,
          include: ['packages/cli/test/**/*.test.ts'],
          globalSetup: ['packages/cli/test/support/global-setup.ts'],
        },
      },
      { extends: true, test: { name: 'client', ...bundled, include: ['packages/client/test/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          name: 'studio',
          ...bundled,
          include: ['packages/studio/test/**/*.test.ts'],
          globalSetup: [
            'packages/gateway/test/support/global-setup.ts',
            'packages/studio/test/support/global-setup.ts',
          ],
        },
      },
      {
        extends: true,
        test: {
          name: 'examples',
          ...bundled,
          include: ['examples/**/*.test.ts'],
          globalSetup: ['examples/browser.ts'],
        },
      },
    ],
  },
});
