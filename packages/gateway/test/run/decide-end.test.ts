import { expect, test } from 'vitest';
import { asCancelled, usageOf } from '../../src/runtime/run/decide-end.ts';
import type { RunEvent } from '../../src/runtime/run/run-event.ts';
import { appended, decided, inHall, kinds, nowhere, reply, started } from './decided.ts';

const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
const stopped = (more: Partial<Extract<RunEvent, { type: 'turn-stopped' }>> = {}): RunEvent => ({
  type: 'turn-stopped',
  stop: { reason: 'end_turn', by: 'text' },
  payload: '{"entry":{"kind":"stop"}}',
  usage,
  isOverBudget: false,
  ...more,
});

test('a turn that stops ends the run and releases the thread if nothing waits', () => {
  const { writes, state } = decided(inHall, stopped());
  expect(kinds(writes)).toEqual(['entry', 'close-run', 'release-thread']);
  expect(writes[1]).toMatchObject({ as: 'completed', usage, announcedSpaceId: 'hall' });
  // The run has ended only when that is durable.
  expect(state.status).toBe('running');
});

test('a turn that is suspended may wait, also if its calls waited before its worker took it over', () => {
  const mayWait = (event: RunEvent) => decided(inHall, event).writes[1];
  expect(mayWait(stopped())).toMatchObject({ kind: 'close-run', mayWait: false });
  expect(mayWait(stopped({ stop: { reason: 'suspended' } }))).toMatchObject({ mayWait: true });
});

test('a turn that was aborted ends the run as cancelled', () => {
  expect(decided(inHall, stopped({ stop: { reason: 'aborted' } })).writes[1]).toMatchObject({ as: 'cancelled' });
});

test('a thread whose transcript is over its budget is not released before it is compacted', () => {
  expect(kinds(decided(inHall, stopped({ isOverBudget: true })).writes)).toEqual(['entry', 'close-run']);
});

test('a turn that stops withdraws what is still shown', () => {
  expect(kinds(decided(inHall, started('c', 'shown'), stopped()).last)).toEqual([
    'hall tool-call.cancelled',
    'entry',
    'close-run',
    'release-thread',
  ]);
});

test('a run whose cancel was accepted in its last step ends as cancelled with the same writes otherwise', () => {
  const { writes } = decided(inHall, started('c', 'shown'), stopped());
  const cancelled = asCancelled(writes);
  expect(kinds(cancelled)).toEqual(kinds(writes));
  expect(cancelled.find(({ kind }) => kind === 'close-run')).toMatchObject({
    as: 'cancelled',
    stop: { reason: 'aborted' },
  });
  expect(cancelled.find(({ kind }) => kind === 'entry')).toMatchObject({
    seq: 7,
    payload: '{"entry":{"kind":"stop","stop":{"reason":"aborted"}}}',
  });
});

test('a run is ended once that is committed, and what is reported afterwards changes nothing', () => {
  const closed: RunEvent = { type: 'run-closed', as: 'completed', thread: 'released', waiting: 'nothing', rows: [] };
  const { state, last } = decided(inHall, stopped(), closed, started('late', 'shown'));
  expect(state).toEqual({ status: 'ended', as: 'completed', thread: 'released', waiting: 'nothing', transcript: [] });
  expect(last).toEqual([]);
});

test('entries are numbered in the order in which they are appended', () => {
  const calls = [
    { callId: 'a', toolName: 'x', input: '{}' },
    { callId: 'b', toolName: 'y', input: '{}' },
  ];
  const { writes } = decided(inHall, appended(reply(...calls)), appended({ kind: 'started', callId: 'a' }));
  expect(writes).toMatchObject([
    { kind: 'entry', seq: 7, entry: 'reply' },
    { kind: 'call-planned', call: { callId: 'a' }, step: 2, index: 0 },
    { kind: 'call-planned', call: { callId: 'b' }, step: 2, index: 1 },
    { kind: 'entry', seq: 8, entry: 'started' },
    { kind: 'call-started', callId: 'a' },
  ]);
});

test('the usage of a run is that of the replies of its last turn', () => {
  expect(usageOf([{ kind: 'turn' }, reply(), { kind: 'turn' }, reply(), reply()])).toEqual({
    inputTokens: 2,
    outputTokens: 4,
    totalTokens: 6,
  });
});

test('[K2] a reply that continues the draft that people saw completes it, and any other is a message of its own', () => {
  const start = { ...inHall, replyIn: 'hall' };
  const drafted = decided(start, { type: 'text-written', step: 1, text: 'Hel', draftId: 'draft' }).state;
  const posted = (text: string) =>
    decided(drafted, stopped({ reply: { messageId: 'own', text } })).writes.find(({ kind }) => kind === 'post-reply');
  expect(posted('Hello.')).toMatchObject({ messageId: 'draft', unseen: 'lo.' });
  expect(posted('Good bye.')).toEqual({ kind: 'post-reply', spaceId: 'hall', text: 'Good bye.', messageId: 'own' });
});

const response = { callId: 'c', toolName: 'report', text: 'The report.', sentIn: [] };
const byTool = { reason: 'end_turn', by: 'terminal', tool: 'report' } as const;

test('[A23] the output of the tool that ended the turn is posted with the end of the run, in the active space', () => {
  const { writes } = decided(inHall, stopped({ stop: byTool, response }));
  expect(kinds(writes)).toEqual(['entry', 'post-response', 'close-run', 'release-thread']);
  expect(writes[1]).toEqual({
    ...{ kind: 'post-response', spaceId: 'hall' },
    ...{ callId: 'c', toolName: 'report', text: 'The report.' },
  });
});

test('[A23] nothing is posted without an active space, without words, a second time, or after a cancel', () => {
  const end = ['entry', 'close-run', 'release-thread'];
  const posted = (given: object, start = inHall) =>
    kinds(decided(start, stopped({ stop: byTool, response: { ...response, ...given } })).writes);
  expect(posted({}, nowhere)).toEqual(end);
  expect(posted({ text: ' ' })).toEqual(end);
  expect(posted({ toolName: 'send_message' })).toEqual(end);
  expect(posted({ sentIn: ['hall'] })).toEqual(end);
  expect(posted({ sentIn: ['kitchen'] })).toContain('post-response');
  expect(kinds(asCancelled(decided(inHall, stopped({ stop: byTool, response })).writes))).toEqual(end);
});
