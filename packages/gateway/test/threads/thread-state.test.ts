import { JournalStalled } from '@lastcall/core';
import { expect, test } from 'vitest';
import { StoreUnavailable } from '../../src/ports/store/store-error.ts';
import { LeaseLost } from '../../src/runtime/lease/lease.ts';
import { RunInterrupted } from '../../src/runtime/loops/run-interrupted.ts';
import type { ActiveRun } from '../../src/runtime/run/active-run.ts';
import { decideAfterError, lastRunOf, nextThread, type ThreadState } from '../../src/runtime/thread-state.ts';

const run = { runId: 'run', cancel: () => {}, interrupt: () => {} };
const claimed: ThreadState = { kind: 'claimed', run: { runId: 'run' } as ActiveRun };
const running: ThreadState = { kind: 'running', ...run };
const between: ThreadState = { kind: 'between-runs', lastRunId: 'run', lastCommit: 'known' };
const unknown: ThreadState = { ...between, lastCommit: 'unknown' };

test('the run that was claimed with the thread starts to run', () => {
  expect(nextThread(claimed, { type: 'run-started', ...run })).toEqual(running);
});

test('a run that starts after another leaves no doubt about the last commit', () => {
  const started = nextThread(unknown, { type: 'run-started', ...run });
  expect(started).toEqual(running);
  expect(nextThread(started, { type: 'run-ended' })).toEqual(between);
});

test('the end of a run changes nothing if none runs', () => {
  expect(nextThread(claimed, { type: 'run-ended' })).toBe(claimed);
  expect(nextThread(unknown, { type: 'run-ended' })).toBe(unknown);
});

test('an unknown commit is remembered between runs', () => {
  expect(nextThread(between, { type: 'commit-unknown' })).toEqual(unknown);
  expect(nextThread(claimed, { type: 'commit-unknown' })).toBe(claimed);
});

test('the last run is the one that was claimed, runs or has run', () => {
  const taken: ThreadState = { kind: 'taken', runId: 'run' };
  expect([taken, claimed, running, between].map(lastRunOf)).toEqual(['run', 'run', 'run', 'run']);
});

test('after a journal that stalled the thread may be released, and the worker continues', () => {
  expect(decideAfterError(between, new JournalStalled('x'), 'running')).toEqual([unknown, 'continue']);
});

test('after an error that leaves the thread held the worker continues, whatever its phase', () => {
  for (const phase of ['running', 'stopping', 'interrupted'] as const)
    expect(decideAfterError(between, new RunInterrupted(), phase)).toEqual([between, 'continue']);
});

test('an unavailable store is retried after a pause, and an earlier doubt stays', () => {
  expect(decideAfterError(between, new StoreUnavailable('x'), 'running')).toEqual([between, 'pause']);
  expect(decideAfterError(unknown, new StoreUnavailable('x'), 'running')).toEqual([unknown, 'pause']);
});

test('a commit in doubt may have released the thread', () => {
  const inDoubt = new StoreUnavailable('x', { inDoubt: true });
  expect(decideAfterError(between, inDoubt, 'running')).toEqual([unknown, 'pause']);
});

test('a worker that stops leaves a thread that it cannot release', () => {
  expect(decideAfterError(between, new StoreUnavailable('x'), 'stopping')).toEqual([between, 'leave']);
  expect(decideAfterError(between, new StoreUnavailable('x'), 'interrupted')).toEqual([between, 'leave']);
});

test('any other error ends the work on the thread', () => {
  const error = new LeaseLost('t');
  expect(decideAfterError(between, error, 'running')).toEqual([between, 'throw']);
  expect(decideAfterError(running, new Error('bug'), 'stopping')).toEqual([running, 'throw']);
});
