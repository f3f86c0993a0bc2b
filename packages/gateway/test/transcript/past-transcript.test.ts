import { type Entry, slice, Transcript } from '@lastcall/core';
import { expect, test } from 'vitest';
import { CountedMessages, estimateTokens } from '../../src/domain/transcript/estimate-tokens.ts';
import type { TranscriptRow } from '../../src/domain/transcript/load-transcript.ts';
import { charactersOf, PastTranscript, pastOf } from '../../src/domain/transcript/past-transcript.ts';
import { toCompactionPayload, toEntryPayload } from '../../src/domain/transcript/transcript-row.ts';

const said = (text: string): Entry => ({
  kind: 'message',
  message: { role: 'user', content: [{ type: 'text', text }] },
});

/** The rows of one run with a message and a call. */
function run(number: number): readonly Entry[] {
  const callId = `call-${number}`;
  const outcome = { status: 'ok', text: `seen ${number}`, value: number } as const;
  return [
    { kind: 'turn' },
    said(`Message ${number}`),
    {
      kind: 'reply',
      step: 1,
      text: '',
      content: [{ type: 'tool-call', toolCallId: callId, toolName: 'look', input: { number } }],
      calls: [{ callId, toolName: 'look', input: JSON.stringify({ number }) }],
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
      finishReason: 'tool-calls',
    } as unknown as Entry,
    {
      kind: 'settled',
      settlement: { callId, toolName: 'look', input: { number }, outcome, startedAt: 1, endedAt: 2 },
    } as Entry,
    { kind: 'stop', stop: { reason: 'end_turn', by: 'text' } },
  ];
}

const toRows = (entries: readonly Entry[], from = 1): readonly TranscriptRow[] =>
  entries.map((entry, index) => ({ seq: from + index, kind: entry.kind, payload: toEntryPayload({ entry }) }));

/** The rows after each of this many runs, including those of earlier runs. */
function growing(runs: number): readonly (readonly TranscriptRow[])[] {
  const all: (readonly TranscriptRow[])[] = [];
  for (let number = 1; number <= runs; number++) {
    const before = all.at(-1) ?? [];
    all.push([...before, ...toRows(run(number), before.length + 1)]);
  }
  return all;
}

test('[G13] a past transcript that is updated from run to run equals its rows', () => {
  for (const [index, rows] of growing(4).entries()) {
    const past = pastOf(rows);
    past.shownTo('one');
    const forked = past.fork();
    const entries = Array.from({ length: index + 1 }, (_, at) => run(at + 1)).flat();
    expect(forked.entries).toEqual(entries);
    expect(forked.viewFor('one')).toEqual(new Transcript(entries).viewFor('one'));
    expect(past.counted.tokens).toBe(estimateTokens(new Transcript(entries).view()));
    expect(charactersOf(rows)).toBe(rows.reduce((sum, { payload }) => sum + payload.length, 0));
    const [first] = growing(1);
    expect(past.session(undefined).toJSON()).toEqual(
      pastOf(first ?? [])
        .session(undefined)
        .toJSON(),
    );
  }
});

test('[R40] a row is parsed once, however many runs follow', () => {
  const all = growing(5);
  const [first, second] = [pastOf(all[0] ?? []), pastOf(all[1] ?? [])];
  expect(second).toBe(first);
  const before = first.fork().view();
  // The fork of a later run has the same message objects as the earlier one.
  const after = pastOf(all[4] ?? [])
    .fork()
    .view();
  expect(after.slice(0, before.length).every((message, index) => message === before[index])).toBe(true);
});

test('[G13] entries that a run adds to its fork are not kept before they are stored', () => {
  const [rows = [], more = []] = growing(2);
  const past = pastOf(rows);
  const forked = past.fork();
  forked.push(...run(7));
  const counter = slice('counter', { initial: 0, on: { Counted: (count: number) => count + 1 } });
  const session = past.session(undefined);
  session.register(counter);
  session.dispatch({ type: 'Counted' });
  expect([session.read(counter), past.session(undefined).read(counter)]).toEqual([1, 0]);
  expect(past.fork().entries).toEqual(run(1));
  expect(pastOf(more).fork().entries).toEqual([...run(1), ...run(2)]);
});

test('[G13] rows of another claim have a separate past, also if some are the same', () => {
  const [rows = [], more = []] = growing(2);
  const past = pastOf(more);
  expect(pastOf(rows)).not.toBe(past);
  expect(pastOf(rows).fork().entries).toEqual(run(1));
  const reread = more.map((row) => ({ ...row }));
  expect(pastOf(reread)).not.toBe(past);
  expect(pastOf(reread).fork().entries).toEqual(past.fork().entries);
});

test('[G14] after a compaction a past begins with what was carried over', () => {
  const carried = run(1);
  const row = { seq: 9, kind: 'compaction', payload: toCompactionPayload({ summary: 'Short.', carried }) };
  const past = pastOf([row, ...toRows(run(2), 10)]);
  expect(past.fork().entries).toEqual([...carried, ...run(2)]);
});

test('a row that cannot be read is an error each time, and is never left out', () => {
  const broken = { seq: 6, kind: 'reply', payload: '{"entry":' };
  const rows = [...toRows(run(1)), broken];
  const past = new PastTranscript();
  expect(() => past.read(rows)).toThrow(SyntaxError);
  expect(() => past.read(rows)).toThrow(SyntaxError);
  expect(() => pastOf([...rows, ...toRows(run(2), 7)])).toThrow(SyntaxError);
});

test('messages that changed are counted again, and removed ones are not counted', () => {
  const view = new Transcript([...run(1), ...run(2)]).view();
  const counted = CountedMessages.NONE.next(view);
  const changed = [
    ...view.slice(0, 2),
    { role: 'user' as const, content: [{ type: 'text' as const, text: 'Other.' }] },
  ];
  expect(counted.next(changed).tokens).toBe(estimateTokens(changed));
  expect(counted.next([]).tokens).toBe(0);
});
