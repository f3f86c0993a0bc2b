import { chance } from './faults.ts';

/** How much happens in a world, and how fast. */
export interface WorldSize {
  /** How many things people and clients do, not counting those for its guest: from, to. */
  readonly actions: readonly [number, number];
  /** The same in a world with a guest. */
  readonly besidesGuest: readonly [number, number];
  /** People begin everything within this time. */
  readonly beginMs: number;
  /** Faults stop here. From then on everything has to come to rest. */
  readonly faultsMs: number;
  readonly sweepMs: number;
  /** How much more likely faults are than in a large world. */
  readonly wildness: number;
}

const LARGE: WorldSize = {
  actions: [3, 9],
  besidesGuest: [3, 9],
  beginMs: 10_000,
  faultsMs: 18_000,
  sweepMs: 2_000,
  wildness: 1,
};

const SMALL: WorldSize = {
  actions: [1, 3],
  besidesGuest: [0, 1],
  beginMs: 4_000,
  faultsMs: 10_000,
  sweepMs: 5_000,
  wildness: 4,
};

/** Most mistakes show in a small world, which takes less than half the time of a large one. One of ten worlds is large. */
export function sizeOf(seed: number): WorldSize {
  return chance(seed, 'size', 0) < 0.1 ? LARGE : SMALL;
}
