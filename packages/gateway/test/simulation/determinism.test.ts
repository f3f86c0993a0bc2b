import { expect, test } from 'vitest';
import { PLANTS } from './plants.ts';
import { runSimulation } from './run-simulation.ts';

test('[Z1] a seed produces the same events, byte for byte, in every process, whichever worlds ran before it', async () => {
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

test('[Z1] many seeds are run with one command, which counts worlds and faults per second, and processes that share them count the same', async () => {
  const seeds = ['--from', '7', '--seeds', '5'];
  const [one, two] = await Promise.all([runSimulation(...seeds), runSimulation(...seeds, '--processes', '2')]);
  expect(one.text).toMatch(/^5 worlds \([\d.]+ a second\), \d+ faults \([\d.]+ a second\), 0 failed\.$/m);
  expect(one.code).toBe(0);
  expect(withoutTimes(two.text)).toBe(withoutTimes(one.text));
  expect(two.code).toBe(0);
});

test('[Z1] the last line is for programs with --json, and --seed says where --seeds begin', async () => {
  const [from, seed] = await Promise.all([
    runSimulation('--from', '7', '--seeds', '3', '--json'),
    runSimulation('--seed', '7', '--seeds', '3', '--json'),
  ]);
  const last = (text: string): unknown => JSON.parse(text.trimEnd().split('\n').at(-1) ?? '');
  expect(last(seed.text)).toEqual({ worlds: 3, faults: expect.any(Number), failed: [] });
  expect(last(seed.text)).toEqual(last(from.text));
  expect(seed.code).toBe(0);
});

test('[Z1] a seed that breaks a promise is in the last line with --json, and the exit code is 1', async () => {
  const [{ name, seed }] = PLANTS as readonly [(typeof PLANTS)[number]];
  const { text, code } = await runSimulation('--plant', name, '--seed', `${seed}`, '--no-shrink', '--json');
  const { worlds, failed } = JSON.parse(text.trimEnd().split('\n').at(-1) ?? '');
  expect({ worlds, failed, code }).toEqual({ worlds: 1, failed: [{ seed, promise: expect.any(String) }], code: 1 });
});

test.each([
  ['--seeds', 'ten'],
  ['--seeds', '0'],
  ['--processes', '0'],
])('[Z1] %s %s is refused, because no world would be run', async (name, value) => {
  const { code, text } = await runSimulation(name, value);
  expect(text).toBe(`${name} ${value}: give a number of at least 1.\n`);
  expect(code).toBe(2);
});

/** How many worlds a second it does is the only thing that differs. */
function withoutTimes(text: string): string {
  return text.replace(/\([\d.]+ a second\)/g, '');
}
