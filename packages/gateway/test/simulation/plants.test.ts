import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PLANTS } from './plants.ts';
import { isFound } from './recheck-plants.ts';

const PACKAGES = join(import.meta.dirname, '../../..');

test('[Z7] at least 20 planted faults are listed, each with a place in the source and a seed up to 2,000', () => {
  expect(PLANTS.length).toBeGreaterThanOrEqual(20);
  expect(new Set(PLANTS.map(({ name }) => name)).size).toBe(PLANTS.length);
  for (const { name, file, find, seed } of PLANTS) {
    const times = readFileSync(join(PACKAGES, file), 'utf8').split(find).length - 1;
    expect([name, times]).toEqual([name, 1]);
    expect([name, seed >= 1 && seed <= 2_000]).toEqual([name, true]);
  }
});

/** All of them take a minute: `npm run simulate -- --plants`. */
const HANDFUL = [
  'the sweep does not find open runs',
  'a start is not durable before the tool runs',
  'the second answer to a call counts too',
  'a write whose outcome is unknown is repeated',
  // A mistake that we made, and that a simulated world found.
  "a machine's run that is taken over cancels the card of an answered call",
];

test.each(HANDFUL)('[Z7] the world of its seed finds the planted fault: %s', async (name) => {
  const plant = PLANTS.find((one) => one.name === name);
  expect(plant !== undefined && (await isFound(plant))).toBe(true);
});
