import { seedOfTheDay } from '../../../../scripts/seed-of-the-day.js';
import { Random } from './random.ts';
import type { Fault } from './storm.ts';

export const seed: number = seedOfTheDay;

/** So many of each, in an order of the seed's. */
export function shuffled(counts: Partial<Record<Fault, number>>): Fault[] {
  const faults = Object.entries(counts).flatMap(([fault, count]) => Array<Fault>(count).fill(fault as Fault));
  return new Random(seed).shuffle(faults);
}
