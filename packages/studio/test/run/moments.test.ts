import { toTimeline } from '@lastcall/client/timeline';
import { expect, test } from 'vitest';
import { aRun, transcript } from '../../../client/test/support/transcript.ts';
import { momentInWords, momentsOf, timelineAt } from '../../src/pages/run/moments.ts';

test('[S6] a run is stepped through in the order of time: parallel calls all begin before they end', () => {
  const { entries, reply, settle, add } = transcript();
  reply(1, [0, 10], ['a.1', 'b.2', 'c.3']);
  settle('a.1', [10, 30]);
  settle('b.2', [11, 20]);
  settle('c.3', [30, 30], { status: 'cancelled', reason: 'why not' });
  add({ kind: 'stop', stop: { reason: 'end_turn', by: 'text' } }, 40);
  const timeline = toTimeline(aRun(), entries);
  const moments = momentsOf(timeline);
  expect(moments.map(momentInWords)).toEqual([
    'Step 1: the model was asked',
    'Step 1: the model had answered',
    'a started',
    'b started',
    'b ended: ok',
    'a ended: ok',
    'c was cancelled',
    'The run ended',
  ]);
  const at = (number: number): readonly string[] =>
    timelineAt(timeline, moments, number).rows.map((row) =>
      row.kind === 'call' ? `${row.callId} ${row.outcome}` : row.kind,
    );
  expect(at(1)).toEqual(['asking']);
  expect(at(2)).toEqual(['step']);
  expect(at(4)).toEqual(['step', 'a.1 running', 'b.2 running']);
  expect(at(5)).toEqual(['step', 'a.1 running', 'b.2 ok']);
  expect(at(8)).toEqual(['step', 'a.1 ok', 'b.2 ok', 'c.3 cancelled', 'stop']);
});

test('[S6] an item that had not ended at a moment shows nothing of its end', () => {
  const { entries, reply, settle } = transcript();
  reply(1, [0, 10], ['a.1']);
  settle('a.1', [10, 30], { text: 'the future' });
  const timeline = toTimeline(aRun(), entries);
  const then = timelineAt(timeline, momentsOf(timeline), 3);
  expect(JSON.stringify(then)).not.toContain('the future');
});
