import type { Entry } from '@lastcall/core';
import { expect, test } from 'vitest';
import { isReference } from '../../src/domain/transcript/output-reference.ts';
import { replaceLargestOutputs } from '../../src/domain/transcript/shrink-entries.ts';

const settled = (callId: string, length: number): Entry => ({
  kind: 'settled',
  settlement: {
    callId,
    toolName: 'read',
    input: {},
    outcome: { status: 'ok', value: 'x'.repeat(length), text: 'x'.repeat(length) },
    startedAt: 0,
    endedAt: 0,
  },
});
const lengthOf = (entries: readonly Entry[]): number => JSON.stringify(entries).length;
const references = (entries: readonly Entry[]): string[] =>
  entries.flatMap((entry) => (entry.kind === 'settled' && isReference(entry) ? [entry.settlement.callId] : []));

test('[G14] hundreds of outputs are shortened with a few looks at the transcript', () => {
  const entries = Array.from({ length: 300 }, (_, index) => settled(`c${index}`, 1_000 + index));
  let looks = 0;
  const replaced = replaceLargestOutputs(entries, (some) => {
    looks++;
    return lengthOf(some) < lengthOf(entries) / 2;
  });
  expect(lengthOf(replaced)).toBeLessThan(lengthOf(entries) / 2);
  expect(looks).toBeLessThanOrEqual(9);
});

test.each([
  { room: 10_000, kept: [] },
  { room: 5_000, kept: ['c'] },
  { room: 3_000, kept: ['c', 'b'] },
  { room: 0, kept: ['c', 'b', 'a'] },
])(
  '[G14] with room for $room characters, the fewest and largest outputs become references: $kept',
  ({ room, kept }) => {
    const entries = [settled('a', 500), settled('c', 2_000), settled('b', 1_000), settled('small', 100)];
    expect(references(replaceLargestOutputs(entries, (some) => lengthOf(some) <= room)).sort()).toEqual(kept.sort());
  },
);
