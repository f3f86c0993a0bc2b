import { Random } from './random.ts';
import type { Fault } from './storm.ts';

/** Another one each day, the same all day: what it finds can be looked at. `SEED` takes up an old one. */
export const seed: number = Number(process.env.SEED ?? Math.floor(Date.now() / 86_400_000));

/** So many of each, in an order of the seed's. */
export function shuffled(counts: Partial<Record<Fault, number>>): Fault[] {
  const faults = Object.entries(counts).flatMap(([fault, count]) => Array<Fault>(count).fill(fault as Fault));
  return new Random(seed).shuffle(faults);
}
