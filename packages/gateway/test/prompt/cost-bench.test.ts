import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const bench = fileURLToPath(new URL('../../../../bench/cost/cost.bench.ts', import.meta.url));

// Checks only counts, which are the same on every machine. The times that the benchmark also prints are not checked.
test('[K14] a conversation of ten tasks takes as many requests as a bare loop, one more for its approval, and at most two and a half times its tokens', async () => {
  const stdout = await runWithinFiveMinutes();
  const rows = stdout.split('\n').flatMap((line) => (line.startsWith('| ') ? [line.split(' | ')] : []));
  const rowOf = (name: string) => rows.find(([first]) => first?.startsWith(`| ${name}`)) ?? [];
  const [, question, action, approval, steps, requests, input = 0, , output = 0] = rowOf(
    'Lastcall, an agent in a space',
  ).map(toNumber);
  const [, , , , , bareRequests = 0, bareInput = 0, , bareOutput = 0] = rowOf('a bare loop').map(toNumber);
  expect([question, action, approval, steps]).toEqual([1, 2, 3, 6]);
  expect(requests).toBe(bareRequests + 1);
  expect((input + output) / (bareInput + bareOutput)).toBeLessThanOrEqual(2.5);
});

/** At every fifth minute of the clock the time is sent to a model again, which adds tokens to all later requests and changes the counts. */
async function runWithinFiveMinutes(): Promise<string> {
  const period = (): number => Math.floor(Date.now() / 300_000);
  const began = period();
  // From the bundles of the packages, which the tests make before they start: 900 source files take two seconds to load.
  const env = { ...process.env, BENCH_PEERS: '', BENCH_MODEL_MS: '0' };
  const { stdout } = await promisify(execFile)(process.execPath, [bench], { env });
  return period() === began ? stdout : await runWithinFiveMinutes();
}

function toNumber(cell: string): number {
  return Number(cell.replaceAll(',', ''));
}
