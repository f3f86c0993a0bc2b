import { expect, test } from 'vitest';
import type { Outcome } from '../src/index.ts';
import { type CallRow, type TimelineRow, toTimeline } from '../src/timeline/index.ts';
import { aRun, transcript } from './support/transcript.ts';

const inWords = (row: TimelineRow): string => {
  if (row.kind === 'call') return `${row.callId} ${row.outcome}${row.bracket === undefined ? '' : ` ${row.bracket}`}`;
  return row.kind === 'step' ? `step ${row.step}` : row.kind;
};

const callsIn = (rows: readonly TimelineRow[]): readonly CallRow[] => rows.filter((row) => row.kind === 'call');

test('[S5] calls stand in call order under their step, however they ended', () => {
  const { entries, reply, settle, wait, add } = transcript();
  reply(1, [0, 10], ['a.1', 'b.2', 'c.3', 'd.4', 'e.5']);
  settle('b.2', [12, 15], { status: 'error', code: 'execution', message: 'no' });
  settle('a.1', [10, 12]);
  settle('c.3', [15, 15], { status: 'cancelled', reason: 'b failed' });
  wait('d.4', 16);
  settle('e.5', [17, 20], { status: 'error', code: 'unknown_outcome', message: 'lost' });
  add({ kind: 'nudge', why: 'no-call', role: 'system', text: 'Call a tool.' }, 21);
  add({ kind: 'stop', stop: { reason: 'end_turn', by: 'text' } }, 22);
  const { rows } = toTimeline(aRun(), entries);
  expect(rows.map(inWords)).toEqual([
    'step 1',
    'a.1 ok',
    'b.2 error',
    'c.3 cancelled',
    'd.4 waiting',
    'e.5 unknown',
    'nudge',
    'stop',
  ]);
});

test('[S5] calls whose times overlap share a bracket, and calls one after the other do not', () => {
  const { entries, reply, settle } = transcript();
  reply(1, [0, 10], ['a.1', 'b.2', 'c.3', 'd.4']);
  settle('a.1', [10, 30]);
  settle('b.2', [11, 12]);
  settle('c.3', [12, 40]);
  settle('d.4', [40, 50]);
  expect(toTimeline(aRun(), entries).rows.map(inWords)).toEqual([
    'step 1',
    'a.1 ok first',
    'b.2 ok middle',
    'c.3 ok last',
    'd.4 ok',
  ]);
});

test('[S5] a hand-over is placed before the first call whose end the new worker wrote, and counts the calls that ran again', () => {
  const { entries, reply, start, settle } = transcript();
  reply(1, [0, 10], ['a.1', 'b.2', 'c.3']);
  start('a.1', 10);
  settle('a.1', [10, 12]);
  start('b.2', 12);
  const afterSeq = entries.length;
  start('b.2', 10_500);
  settle('b.2', [10_500, 10_510]);
  settle('c.3', [10_510, 10_520]);
  const takeover = { at: 10_400, afterSeq, from: 'gw-1', to: 'gw-2', silentMs: 10_388 };
  const { rows } = toTimeline(aRun({ takeovers: [takeover] }), entries);
  expect(rows.map(inWords)).toEqual(['step 1', 'a.1 ok', 'takeover', 'b.2 ok', 'c.3 ok']);
  expect(rows[2]).toMatchObject({ kind: 'takeover', repeated: 1 });
  expect(callsIn(rows).map(({ starts }) => starts)).toEqual([1, 2, 0]);
});

test('[S5] the output of the tool that ended the turn is the response, and a failed call of that tool is not', () => {
  const { entries, reply, settle, add } = transcript();
  const report = (callId: string, outcome: Outcome): void =>
    add(
      {
        kind: 'settled',
        settlement: { callId, toolName: 'report', outcome, terminal: true, startedAt: 1, endedAt: 2 },
      },
      2,
    );
  reply(1, [0, 1], ['report.1']);
  report('report.1', { status: 'error', code: 'execution', message: 'no', text: 'no' });
  reply(2, [3, 4], ['report.2', 'mail.3']);
  report('report.2', { status: 'ok', text: 'the report' });
  settle('mail.3', [5, 5], { status: 'skipped', reason: 'the turn had ended' });
  const { rows } = toTimeline(aRun({ stop: { reason: 'end_turn', by: 'terminal', tool: 'report' } }), entries);
  expect(callsIn(rows).map(({ callId, isResponse }) => [callId, isResponse])).toEqual([
    ['report.1', false],
    ['report.2', true],
    ['mail.3', false],
  ]);
});

test('[S5] the answer to a call of an earlier run has a separate row', () => {
  const { entries, reply, settle } = transcript();
  settle('confirm.1', [5, 5]);
  reply(1, [6, 10], []);
  const [row] = callsIn(toTimeline(aRun(), entries).rows);
  expect(row).toMatchObject({ callId: 'confirm.1', step: undefined, outcome: 'ok' });
});

test('[S5] a call of an earlier run that asks again has one row, where it waits now or ended', () => {
  const { entries, wait, settle } = transcript();
  wait('ask.1', 5);
  wait('ask.1', 9);
  const rows = (): readonly CallRow[] => callsIn(toTimeline(aRun(), entries).rows);
  expect(rows()).toMatchObject([{ callId: 'ask.1', outcome: 'waiting', seq: 2 }]);
  settle('ask.1', [9, 12]);
  expect(rows()).toMatchObject([{ callId: 'ask.1', outcome: 'ok', seq: 3 }]);
});

test('[S5] a call that waited and ended in a later run has that outcome, and says when', () => {
  const { entries, reply, wait } = transcript();
  reply(1, [0, 10], ['ask.1']);
  wait('ask.1', 10);
  const ended = { outcome: { status: 'ok', text: 'yes' }, at: 5_000 } as const;
  const later = entries.map((entry) => (entry.kind === 'pending' ? { ...entry, ended } : entry));
  expect(callsIn(toTimeline(aRun(), later).rows)).toMatchObject([
    { callId: 'ask.1', outcome: 'ok', startedAt: 10, endedAt: 10, laterEndAt: 5_000 },
  ]);
});

test('[S5] while a run goes on, a call without an end runs; without such a call the model is being asked', () => {
  const { entries, reply, start, settle } = transcript();
  reply(1, [0, 10], ['a.1']);
  start('a.1', 10);
  const running = aRun({ status: 'running', stop: undefined, endedAt: undefined });
  expect(toTimeline(running, entries).rows.map(inWords)).toEqual(['step 1', 'a.1 running']);
  settle('a.1', [10, 20]);
  expect(toTimeline(running, entries).rows.map(inWords)).toEqual(['step 1', 'a.1 ok', 'asking']);
});

test('[S5] calls after a running call with external effects have not started', () => {
  const { entries, reply, start } = transcript();
  reply(1, [0, 10], ['a.1', 'b.2']);
  start('a.1', 10);
  const running = aRun({ status: 'running', stop: undefined, endedAt: undefined });
  expect(toTimeline(running, entries).rows.map(inWords)).toEqual(['step 1', 'a.1 running', 'b.2 planned']);
});

test('[S5] a call that the provider of the model ran has ended with the reply', () => {
  const { entries, reply } = transcript();
  reply(1, [0, 10], ['search.1', 'search.2']);
  const [{ entry } = { entry: undefined }] = entries;
  if (entry?.kind !== 'reply') throw new Error('The first entry is the reply.');
  const [first, second] = entry.calls as [(typeof entry.calls)[number], (typeof entry.calls)[number]];
  const calls = [
    { ...first, provided: { result: 'found', isError: false } },
    { ...second, provided: { result: 'too often', isError: true } },
  ];
  const { rows } = toTimeline(aRun(), [{ seq: 1, kind: 'reply', at: 10, entry: { ...entry, calls } }]);
  expect(rows.map(inWords)).toEqual(['step 1', 'search.1 ok', 'search.2 error']);
});

test('[S5] calls that were trimmed are still there, and say that the model sees them no longer', () => {
  const { entries, reply, settle, add } = transcript();
  reply(1, [0, 10], ['a.1', 'b.2']);
  settle('a.1', [10, 11]);
  settle('b.2', [11, 11], { status: 'skipped', reason: 'the turn had ended' });
  add({ kind: 'trimmed', step: 1, keep: ['a.1'] }, 12);
  const { rows } = toTimeline(aRun(), entries);
  expect(callsIn(rows).map(({ isTrimmed }) => isTrimmed)).toEqual([false, true]);
  expect(rows.at(-1)).toMatchObject({ kind: 'trimmed', hidden: 1 });
});
