import { afterEach, describe } from 'vitest';
import { forAllTests } from './for-all-tests.ts';
import { databases } from './stores.ts';
import { openWorld, type World, type WorldOptions } from './world.ts';

export type OpenWorld = (options: Omit<WorldOptions, 'database'>) => Promise<World>;

/** The tests on every database: one database a file, started worlds that end with their test. */
export function describeWorlds(title: string, tests: (open: OpenWorld) => void): void {
  describe.each(databases)(`${title} on $kind`, ({ create }) => {
    const database = forAllTests(create);
    const worlds: World[] = [];
    afterEach(async () => {
      for (const world of worlds.splice(0)) await world.stop();
    });
    tests(async (options) => {
      const world = await openWorld({ database, ...options });
      worlds.push(world);
      await world.start();
      return world;
    });
  });
}
