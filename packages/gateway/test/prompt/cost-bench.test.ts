import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const bench = fileURLToPath(new URL('../../../../bench/cost/cost.bench.ts', import.meta.url));

// Counts only: they are the same on every machine. The times that the benchmark prints too are not looked at.
test('[K14] a conversation of ten tasks takes as many requests as a bare loop, one more for its approval, and at most two and a half times its tokens', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=@lastcall/source', bench], {
    env: { ...process.env, BENCH_PEERS: '' },
  });
  const rows = stdout.split('\n').flatMap((line) => (line.startsWith('| ') ? [line.split(' | ')] : []));
  const rowOf = (name: string) => rows.find(([first]) => first?.startsWith(`| ${name}`)) ?? [];
  const [, question, action, approval, steps, requests, input] = rowOf('Lastcall, an agent in a space').map(toNumber);
  const [, , , , , bareRequests = 0, bareInput = 0] = rowOf('a bare loop').map(toNumber);
  expect([question, action, approval, steps]).toEqual([1, 2, 3, 6]);
  expect(requests).toBe(bareRequests + 1);
  // The ratio is below 2.5. If five minutes of the clock end while it runs, the time is told once more, in all later requests.
  expect(input).toBeLessThan(2.55 * bareInput);
});

function toNumber(cell: string): number {
  return Number(cell.replaceAll(',', ''));
}
