import type { Run } from '@lastcall/client';
import { expect, test } from 'vitest';
import { mergeRuns } from '../../src/pages/runs/merge-runs.ts';

const run = (id: string, status: Run['status'] = 'completed'): Run => ({ id, status }) as Run;
const idsOf = (runs: readonly Run[]): readonly string[] => runs.map(({ id, status }) => `${id} ${status}`);

test('[S5] the list of runs shows each loaded run as it is now, and new runs above them', () => {
  const loaded = [run('3', 'running'), run('2'), run('1')];
  const newest = [run('4', 'running'), run('3'), run('2')];
  const { runs, held } = mergeRuns(loaded, newest, { isHeld: false, shownUntil: undefined });
  expect([idsOf(runs), held]).toEqual([['4 running', '3 completed', '2 completed', '1 completed'], 0]);
});

test('[S5] while rows are read, new runs are counted and not shown, except those that were shown before', () => {
  const newest = [run('5'), run('4'), run('3')];
  const { runs, held } = mergeRuns([run('3')], newest, { isHeld: true, shownUntil: '4' });
  expect([idsOf(runs), held]).toEqual([['4 completed', '3 completed'], 1]);
  expect(mergeRuns([run('3')], newest, { isHeld: true, shownUntil: undefined }).held).toBe(2);
});
