import { Random } from './random.ts';
import type { Fault } from './storm.ts';

/** The seed of this run of the tests: see vitest.config.ts. */
export const seed: number = Number(process.env.SEED);

/** So many of each, in an order of the seed's. */
export function shuffled(counts: Partial<Record<Fault, number>>): Fault[] {
  const faults = Object.entries(counts).flatMap(([fault, count]) => Array<Fault>(count).fill(fault as Fault));
  return new Random(seed).shuffle(faults);
}
