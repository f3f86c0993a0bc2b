import { type TimelineRow, toTimeline } from '@lastcall/client/timeline';
import { expect, test } from 'vitest';
import { aRun, transcript } from '../../../client/test/support/transcript.ts';
import { filterRows } from '../../src/pages/run/row-filter.ts';
import { lineInWords } from '../../src/parts/run/timeline/line-words.ts';

const inWords = (row: TimelineRow): string => {
  if (row.kind === 'call') return `${row.callId} ${row.outcome}`;
  return row.kind === 'step' ? `step ${row.step}` : row.kind;
};

test('[S5] a nudge, a rewind with the effects that remain, and a summary are separate lines, where they happened', () => {
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
  expect(
    rows.map((row) => (row.kind === 'call' || row.kind === 'step' ? inWords(row) : lineInWords(row, () => ''))),
  ).toEqual([
    'earlier runs were summarised: Ada had asked for a hotel.',
    'step 1',
    'book.1 ok',
    'go_back.2 ok',
    'rewind to the start of the turn, 1 could not be undone: Ask for the price first.',
    'rewind to the start of the turn: Once more.',
    'step 2',
    'nudge, no tool was called: End with file_report.',
  ]);
  // The search finds their text, and filters for calls hide them.
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
