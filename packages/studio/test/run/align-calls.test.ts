import { type CallRow, toTimeline } from '@lastcall/client/timeline';
import { expect, test } from 'vitest';
import { aRun, transcript } from '../../../client/test/support/transcript.ts';
import { type Aligned, alignCalls } from '../../src/pages/compare/align-calls.ts';

/** Calls, each as `tool input` or `tool input: output`. */
function callsOf(...lines: readonly string[]): readonly CallRow[] {
  const { entries, reply, settle } = transcript();
  const ids = lines.map((line, index) => `${line.split(' ')[0]}.${index}`);
  reply(1, [0, 1], ids);
  for (const [index, line] of lines.entries())
    settle(ids[index] ?? '', [1, 2], { text: line.split(': ')[1] ?? 'fine' });
  const rows = toTimeline(aRun(), entries).rows.filter((row) => row.kind === 'call');
  return rows.map((row, index) => ({
    ...row,
    asked: JSON.stringify({ input: lines[index]?.split(' ')[1]?.replace(':', '') }),
  }));
}

const inWords = (one: Aligned): string => {
  if (one.kind === 'left') return `left ${one.left.toolName}`;
  if (one.kind === 'right') return `right ${one.right.toolName}`;
  return `${one.kind} ${one.left.toolName}${one.kind === 'changed' ? ` ${one.what.join()}` : ''}`;
};

test('[S5] calls of two runs are aligned by tool and input: same, changed, only here', () => {
  const left = callsOf('weather tokyo', 'hotel inn', 'pay 100: paid', 'mail ada');
  const right = callsOf('weather tokyo', 'weather kyoto', 'pay 100: refused', 'mail ben', 'report all');
  expect(alignCalls(left, right).map(inWords)).toEqual([
    'same weather',
    'left hotel',
    'right weather',
    'changed pay output',
    'changed mail input',
    'right report',
  ]);
});

test('[S5] a call with the same input is preferred to an earlier one of the same tool', () => {
  const left = callsOf('pay 2');
  const right = callsOf('pay 1', 'pay 2', 'pay 3');
  expect(alignCalls(left, right).map(inWords)).toEqual(['right pay', 'same pay', 'right pay']);
});

test('[S5] the order of the names in an input makes no difference', () => {
  const [one] = callsOf('pay 1') as [CallRow];
  const turned = { ...one, asked: '{"b":1,"a":{"d":2,"c":3}}' };
  expect(alignCalls([{ ...one, asked: '{"a":{"c":3,"d":2},"b":1}' }], [turned]).map(inWords)).toEqual(['same pay']);
});

test('nothing is aligned with nothing', () => {
  expect(alignCalls([], [])).toEqual([]);
  expect(alignCalls(callsOf('a 1'), []).map(inWords)).toEqual(['left a']);
});
