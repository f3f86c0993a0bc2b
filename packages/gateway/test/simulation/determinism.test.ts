import { expect, test } from 'vitest';
import { runSimulation } from './run-simulation.ts';

test('[Z1] a seed gives the same events, byte for byte, in every process, whichever worlds ran before it', async () => {
  const [one, other, after] = await Promise.all([
    runSimulation('--seed', '42'),
    runSimulation('--seed', '42'),
    runSimulation('--from', '41', '--seeds', '2', '--log'),
  ]);
  const events = one.text.slice(0, one.text.indexOf('fingerprint'));
  const fingerprint = /fingerprint \w+/.exec(one.text)?.[0] ?? 'none';
  expect(events.split('\n').length).toBeGreaterThan(20);
  expect(withoutTimes(other.text)).toBe(withoutTimes(one.text));
  expect(after.text).toContain(events);
  expect(after.text).toContain(fingerprint);
});

test('[Z1] many seeds are run with one command, which counts worlds and faults per second', async () => {
  const { code, text } = await runSimulation('--from', '7', '--seeds', '3');
  expect(text).toMatch(/^3 worlds \([\d.]+ a second\), \d+ faults \([\d.]+ a second\), 0 failed\.$/m);
  expect(code).toBe(0);
});

/** How many worlds a second it does is the only thing that differs. */
function withoutTimes(text: string): string {
  return text.replace(/\([\d.]+ a second\)/g, '');
}
