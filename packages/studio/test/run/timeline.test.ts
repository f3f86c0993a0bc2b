import type { Outcome } from '@lastcall/client';
import { expect, test } from 'vitest';
import { lineInWords } from '../../src/pages/run/line-words.ts';
import { filterRows } from '../../src/pages/run/row-filter.ts';
import { type CallRow, type TimelineRow, toTimeline } from '../../src/pages/run/timeline.ts';
import { aRun, transcript } from './entries.ts';

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

test('[S5] a hand-over stands before the first call whose end the new worker wrote, and counts what ran again', () => {
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

test('[S5] the last word of the tool that ended the turn is the response, and a failed try of it is not', () => {
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

test('[S5] the answer to a call of an earlier run has a row of its own', () => {
  const { entries, reply, settle } = transcript();
  settle('confirm.1', [5, 5]);
  reply(1, [6, 10], []);
  const [row] = callsIn(toTimeline(aRun(), entries).rows);
  expect(row).toMatchObject({ callId: 'confirm.1', step: undefined, outcome: 'ok' });
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

test('[S5] behind a call that acts outside and still runs, calls have not started', () => {
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

test('[S5] a nudge, a rewind with what it could not take back, and a summary are lines of their own, where they happened', () => {
  const { entries, reply, settle, add } = transcript();
  add({ kind: 'compaction', summary: 'Ada had asked for a hotel.\nIt was full.' }, 0);
  reply(1, [0, 10], ['book.1', 'go_back.2']);
  settle('book.1', [10, 11]);
  settle('go_back.2', [11, 12]);
  add({ kind: 'rewind', callId: 'go_back.2', text: 'Ask for the price first.', remaining: ['book.1'] }, 13);
  add({ kind: 'rewind', callId: 'go_back.3', text: 'Once more.', remaining: [] }, 14);
  reply(2, [14, 20], [], 'I am done.');
  add({ kind: 'nudge', why: 'no-call', role: 'system', text: 'End with file_report.' }, 21);
  const { rows } = toTimeline(aRun(), entries);
  expect(rows.map((row) => (row.kind === 'call' || row.kind === 'step' ? inWords(row) : lineInWords(row, '')))).toEqual(
    [
      'the earlier context was summarised: Ada had asked for a hotel.',
      'step 1',
      'book.1 ok',
      'go_back.2 ok',
      'rewind to the start of the turn, 1 could not be undone: Ask for the price first.',
      'rewind to the start of the turn: Once more.',
      'step 2',
      'nudge, no tool was called: End with file_report.',
    ],
  );
  // They are found by what they say, and stay in sight of no filter that asks for calls.
  const found = (search: string) => filterRows(rows, { only: undefined, search }).map(({ kind }) => kind);
  expect(found('price')).toContain('rewind');
  expect(found('hotel')).toContain('summary');
  expect(filterRows(rows, { only: 'errors', search: undefined })).toEqual([]);
});

test('[S5] filters show what failed, waits, or never ran, and a search looks into inputs and outputs', () => {
  const { entries, reply, settle, wait } = transcript();
  reply(1, [0, 10], ['a.1', 'b.2']);
  settle('a.1', [10, 11], { text: 'a needle in it' });
  settle('b.2', [11, 12], { status: 'error', code: 'execution', message: 'no', text: 'no' });
  reply(2, [12, 20], ['c.3', 'd.4'], 'I shall wait.');
  wait('c.3', 20);
  settle('d.4', [20, 20], { status: 'cancelled', reason: 'c waits', text: 'Cancelled.' });
  const { rows } = toTimeline(aRun(), entries);
  const shown = (filter: Parameters<typeof filterRows>[1]): readonly string[] => filterRows(rows, filter).map(inWords);
  expect(shown({ only: 'errors' })).toEqual(['step 1', 'b.2 error']);
  expect(shown({ only: 'waiting' })).toEqual(['step 2', 'c.3 waiting']);
  expect(shown({ only: 'never-ran' })).toEqual(['step 2', 'd.4 cancelled']);
  expect(shown({ only: 'changes' })).toEqual([]);
  expect(shown({ search: 'NEEDLE' })).toEqual(['step 1', 'a.1 ok']);
  expect(shown({ search: 'execution' })).toEqual(['step 1', 'b.2 error']);
  expect(shown({ search: 'shall wait' })).toEqual(['step 2']);
  expect(shown({ search: ' ' })).toHaveLength(6);
});
