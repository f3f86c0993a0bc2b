import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Claim, claimsOf, toPage } from '../claims.ts';
import { type Held, heldAtLeast, heldAtMost } from '../held.ts';
import type { Report } from '../report.ts';

const ROOT = join(import.meta.dirname, '../..');

function report(...findings: readonly (string | Held)[]): Report {
  return { title: 'Steps', claim: '', columns: [], rows: [], findings };
}

const worst = (claims: readonly Claim[]) => claims.map(({ worst: { what, figure } }) => [what, figure]);

test('[Z9] a claim is the worst of three runs, whether it is held to at most or at least something', () => {
  const runs = [
    [1, 9],
    [3, 7],
    [2, 8],
  ].map(([step = 0, rate = 0]) => [report(heldAtMost('step', step, 2), heldAtLeast('rate', rate, 8))]);
  expect(worst(claimsOf(runs))).toEqual([
    ['step', 3],
    ['rate', 7],
  ]);
  const page = toPage({ claims: claimsOf(runs), command: 'npm run bench -- --claims', madeOn: 'today' });
  expect(page).toContain('| Steps | step | 3 | at most 2 | missed | 1, 3, 2 |');
  expect(page).toContain('| Steps | rate | 7 | at least 8 | missed | 9, 7, 8 |');
});

test('[Z9] fewer than three runs claim nothing, and neither does a ratio that one of them lacks', () => {
  const one = [report(heldAtMost('step', 1, 2))];
  expect(() => claimsOf([one, one])).toThrow('A claim needs 3 runs. There were 2.');
  expect(claimsOf([one, one, [report()]])).toEqual([]);
});

test('[Z9] only ratios within a run are claimed: no figure that has a unit, and no sentence', () => {
  const run = [report('Absurd is left out.', heldAtMost('wake', 3, 5, ' ms'), heldAtMost('step', 1, 2))];
  expect(worst(claimsOf([run, run, run]))).toEqual([['step', 1]]);
});

test('[Z9] pages that people read before they choose claim no speed, except by a link to what the command wrote', () => {
  const pages = globSync(['README.md', 'docs/comparison.md', 'packages/*/README.md'], { cwd: ROOT });
  expect(pages.length).toBeGreaterThan(3);
  const claim =
    /\d[\d.,]* ?(×|times (faster|slower|as fast|the speed)|(messages|requests|steps|turns) (a|per) second|µs)/;
  for (const page of pages) {
    const lines = readFileSync(join(ROOT, page), 'utf8').split('\n');
    const unproven = lines.filter((line) => claim.test(line) && !line.includes('claims.md'));
    expect([page, unproven]).toEqual([page, []]);
  }
});

test('[Z9] the page of claims names the command that made it, and each row has the worst of its three ratios', () => {
  const page = readFileSync(join(ROOT, 'docs/claims.md'), 'utf8');
  expect(page).toMatch(/`npm run bench -- --claims[ \w]*` ran everything 3 times and wrote this page/);
  const rows = page.split('\n').filter((line) => /\| (held|missed) \|/.test(line));
  expect(rows.length).toBeGreaterThan(0);
  for (const row of rows) {
    const [, , figure, limit = '', , each = ''] = row.slice(2, -2).split(' | ');
    const ratios = each.split(', ').map(Number);
    expect(ratios).toHaveLength(3);
    expect(Number(figure)).toBe(limit.startsWith('at most') ? Math.max(...ratios) : Math.min(...ratios));
  }
});
