import { expect, test } from 'vitest';
import { mergeDeltas } from '../../src/runtime/run/merge-deltas.ts';
import type { Write } from '../../src/runtime/run/run-write.ts';

const delta = (text: string, more: object = {}): Write => ({
  kind: 'space-event',
  spaceId: 'hall',
  type: 'message.delta',
  payload: { streamId: 'm', delta: text, ...more },
});

test('[G46] deltas of one text that follow each other become one event', () => {
  expect(mergeDeltas([delta('a'), delta('b'), delta('c')])).toEqual([delta('abc')]);
});

test('[G46] deltas of another text, of another space, or with something between them stay apart', () => {
  const end: Write = {
    ...(delta('') as Extract<Write, { kind: 'space-event' }>),
    type: 'message.cancelled',
    payload: {},
  };
  for (const writes of [
    [delta('a'), delta('b', { streamId: 'other' })],
    [delta('a'), { ...delta('b'), spaceId: 'kitchen' } as Write],
    [delta('a'), end, delta('b')],
  ])
    expect(mergeDeltas(writes)).toEqual(writes);
});
