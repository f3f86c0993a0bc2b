import { Random } from './random.ts';
import type { Fault } from './storm.ts';

/** The seed of this run of the tests: see vitest.config.ts. */
export const seed: number = Number(process.env.SEED);

/** This many of each, in an order that depends on the seed. */
export function shuffled(counts: Partial<Record<Fault, number>>): Fault[] {
  const faults = Object.entries(counts).flatMap(([fault, count]) => Array<Fault>(count).fill(fault as Fault));
  return new Random(seed).shuffle(faults);
}
