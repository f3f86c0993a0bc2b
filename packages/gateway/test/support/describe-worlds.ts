import { afterEach, describe } from 'vitest';
import type { GatewayLimits } from '../../src/config/limits.ts';
import { forAllTests } from './for-all-tests.ts';
import { type Database, databases, embedded } from './stores.ts';
import { openWorld, type World, type WorldOptions } from './world.ts';

export type OpenWorld = (options: Omit<WorldOptions, 'database'>) => Promise<World>;

/** Runs the tests on the embedded database, or on those of `on`: one database per file, with started worlds that end with their test. */
export function describeWorlds(title: string, tests: (open: OpenWorld) => void, on: typeof databases = embedded): void {
  describe.each(on)(`${title} on $kind`, ({ create }) => {
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

export interface IdleWorld {
  readonly world: World;
  readonly database: Database;
  readonly kind: Database['kind'];
  /** Another gateway on the same database, if the database allows one. */
  beside(): World;
}

export interface IdleWorldOptions {
  readonly title: string;
  readonly limits?: Partial<GatewayLimits>;
  readonly on?: typeof databases;
}

/** Runs the tests on every database, in one world for all of them. Its worker is not started: wakes are only recorded. */
export function describeIdleWorld(about: string | IdleWorldOptions, tests: (idle: IdleWorld) => void): void {
  const { title, limits = {}, on = databases } = typeof about === 'string' ? { title: about } : about;
  describe.each(on)(`${title} on $kind`, ({ kind, create }) => {
    const database = forAllTests(create);
    const open = (): World => forAllTests(() => openWorld({ database, limits }));
    const world = open();
    tests({ world, database, kind, beside: () => (kind === 'postgres' ? open() : world) });
  });
}
