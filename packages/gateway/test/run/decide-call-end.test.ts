import type { Settlement } from '@lastcall/core';
import { expect, test } from 'vitest';
import type { RunningState } from '../../src/runtime/run/run-state.ts';
import type { Write } from '../../src/runtime/run/run-write.ts';
import { decided, ERROR, ended, inHall, kinds, nowhere, OK, runs, started, wrote } from './decided.ts';

const find = <Kind extends Write['kind']>(writes: readonly Write[], kind: Kind) =>
  writes.find((write): write is Extract<Write, { kind: Kind }> => write.kind === kind);

const pending = (more: object = {}): Settlement['outcome'] => ({
  status: 'pending',
  kind: 'result',
  text: 'Waits.',
  ...more,
});

test('the end of an invisible call is a row of the transcript, the row of the call and an event of the run', () => {
  const event = ended(OK, { toolName: 'hidden' });
  expect(decided(inHall, event).writes).toEqual([
    { kind: 'entry', seq: 7, entry: 'settled', payload: event.json.entry },
    {
      kind: 'call-ended',
      callId: 'c',
      status: 'settled',
      outcome: '{"status":"ok","text":"1","value":1}',
      outcomeStatus: 'ok',
    },
    { kind: 'run-event', type: 'tool-call.complete', callId: 'c', json: event.json.runEvent },
  ]);
});

test('the end of a call inside another call is no row of the transcript', () => {
  const { last } = decided(inHall, { ...ended(OK, { toolName: 'hidden' }), isInside: true });
  expect(kinds(last)).toEqual(['call-ended', 'run tool-call.complete']);
});

test.each([
  { outcome: OK, card: 'complete', runEvent: 'tool-call.complete', output: '1' },
  { outcome: ERROR, card: 'error', runEvent: 'tool-call.error', output: '"No."' },
  {
    outcome: { status: 'cancelled', reason: 'no', text: 'No.' } as const,
    card: 'cancelled',
    runEvent: 'tool-call.cancelled',
    output: '"No."',
  },
  {
    outcome: { status: 'skipped', reason: 'no', text: 'No.' } as const,
    card: 'cancelled',
    runEvent: 'tool-call.skipped',
    output: '"No."',
  },
])(
  '[G25] a call with a card that ends $outcome.status ends on its card as $card and nowhere else in the space',
  (row) => {
    const { last, state } = decided(inHall, runs('c'), ended(row.outcome));
    // If the call waited, its wait ends with it.
    const wait = row.outcome.status === 'cancelled' ? ['end-wait'] : [];
    expect(kinds(last)).toEqual(['entry', 'call-ended', ...wait, 'update-card', `run ${row.runEvent}`]);
    expect(find(last, 'update-card')).toEqual({
      kind: 'update-card',
      callId: 'c',
      status: row.card,
      callStatus: row.outcome.status,
      output: row.output,
    });
    expect(state).toMatchObject({ cards: new Set(), shown: new Map() });
  },
);

test('[G20] a call that was shown and never got a card is cancelled with the text of its end', () => {
  const { last } = decided(inHall, started('c', 'shown'), ended(ERROR));
  expect(last[0]).toMatchObject({
    spaceId: 'hall',
    type: 'tool-call.cancelled',
    payload: { callId: 'c', reason: 'No.' },
  });
});

test.each([
  { what: 'a success', outcome: OK, hasStagedWrites: true, isApplied: true },
  { what: 'a success that staged nothing', outcome: OK, hasStagedWrites: false, isApplied: false },
  { what: 'a failure', outcome: ERROR, hasStagedWrites: true, isApplied: false },
  { what: 'a waiting call', outcome: pending(), hasStagedWrites: false, isApplied: true },
])('what a call staged is applied with $what: $isApplied', ({ outcome, hasStagedWrites, isApplied }) => {
  const { writes } = decided(inHall, ended(outcome, { toolName: 'hidden', hasStagedWrites }));
  expect(find(writes, 'staged-writes') !== undefined).toBe(isApplied);
});

const sent = (text: string, spaceId = 'hall') =>
  ended(
    { status: 'ok', value: { messageId: 'c', spaceId, replyTo: 'm0' }, text: 'OK' },
    { toolName: 'send_message', input: { text, replyTo: 'm1' }, hasStagedWrites: true },
  );

test('[G46] a message that was shown in part is shown to its end', () => {
  const { last, state } = decided(inHall, started('c', 'send_message'), wrote('c', 'Hel', 'Hel'), sent('Hello'));
  expect(kinds(last)).toEqual(['hall message.delta', 'entry', 'call-ended', 'staged-writes', 'run tool-call.complete']);
  expect(last[0]).toMatchObject({ payload: { streamId: 'c', delta: 'lo' } });
  expect((state as RunningState).shown.size).toBe(0);
});

test('[G46] a message that was not shown while it was written is shown as a whole', () => {
  expect(decided(inHall, sent('Hello')).writes.slice(0, 2)).toMatchObject([
    { type: 'message.start', payload: { streamId: 'c', messageId: 'c', replyTo: 'm0' } },
    { type: 'message.delta', payload: { streamId: 'c', delta: 'Hello' } },
  ]);
});

test.each([
  { what: 'another text', text: 'Good bye', space: 'hall' },
  { what: 'another space', text: 'Hello', space: 'other' },
])('[G46] a message that was sent with $what than shown is withdrawn and shown again', ({ text, space }) => {
  const { last } = decided(inHall, started('c', 'send_message'), wrote('c', 'Hel', 'Hel'), sent(text, space));
  expect(last.slice(0, 3)).toMatchObject([
    { spaceId: 'hall', type: 'message.cancelled', payload: { streamId: 'c' } },
    { spaceId: space, type: 'message.start', payload: { streamId: 'c' } },
    { spaceId: space, type: 'message.delta', payload: { streamId: 'c', delta: text } },
  ]);
});

test('[G19] enter_space moves the agent when it succeeds, and leaves it where it was when it fails', () => {
  const enter = { toolName: 'enter_space', input: { spaceId: '2' }, hasStagedWrites: true };
  const entered = { ...OK, value: { spaceId: 'other' } };
  expect(decided(inHall, ended(entered, enter)).state).toMatchObject({
    activeSpaceId: 'other',
    announcedSpaceId: 'other',
  });
  expect(decided(inHall, ended(ERROR, enter)).state).toMatchObject({ activeSpaceId: 'hall', announcedSpaceId: 'hall' });
});

test('[G28] a waiting call waits, and its card is requested where it was shown', () => {
  const { last, state } = decided(inHall, started('c', 'shown'), ended(pending({ expiresAt: 9 })));
  expect(kinds(last)).toEqual(['entry', 'call-ended', 'staged-writes', 'pending-call', 'run tool-call.pending']);
  expect(find(last, 'call-ended')).toMatchObject({ status: 'pending' });
  expect(find(last, 'pending-call')).toMatchObject({ spaceId: 'hall', rawInput: undefined, call: { expiresAt: 9 } });
  expect(state).toMatchObject({ cards: new Set(['c']), shown: new Map() });
});

test('a waiting call whose start no space saw shows its input with the card', () => {
  expect(find(decided(inHall, ended(pending())).writes, 'pending-call')).toMatchObject({
    spaceId: 'hall',
    rawInput: '{}',
  });
});

test.each([
  { who: 'invisible', from: inHall, toolName: 'hidden' },
  { who: 'visible, of an agent in no space,', from: nowhere, toolName: 'shown' },
])('a waiting call that is $who is in no space and has no card', ({ from, toolName }) => {
  const { writes, state } = decided(from, ended(pending(), { toolName }));
  expect(find(writes, 'pending-call')).toMatchObject({ spaceId: null });
  expect((state as RunningState).cards.size).toBe(0);
});

test('a waiting call that is cancelled in the same run ends on its card', () => {
  const cancelled = { status: 'cancelled', reason: 'no', text: 'No.' } as const;
  expect(find(decided(inHall, ended(pending()), ended(cancelled)).last, 'update-card')?.status).toBe('cancelled');
});

test('[A23] the card of the call that ends the run has the response, and that of a call that was answered too late does not', () => {
  const report = ended(OK, { toolName: 'report' });
  const cardOf = (event: typeof report) =>
    find(decided(inHall, runs('c', { toolName: 'report' }), event).last, 'update-card');
  expect(cardOf(report)).toMatchObject({ isResponse: true });
  expect(cardOf({ ...report, isLate: true })).not.toHaveProperty('isResponse');
});

test('[G25] a call that waits gets its card in the space that saw the model write it, also if the agent has moved on', () => {
  const moved = ended(
    { status: 'ok', value: { spaceId: 'kitchen' }, text: 'OK' },
    { toolName: 'enter_space', callId: 'e' },
  );
  const { writes } = decided(inHall, started('c', 'shown'), moved, ended(pending()));
  expect(find(writes, 'pending-call')).toMatchObject({ spaceId: 'hall' });
});
