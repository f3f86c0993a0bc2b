import { expect, test } from 'vitest';
import { ClientError } from '../src/client-error.ts';
import { isRepeated, nextStream, type StreamChange, type StreamState, startStream } from '../src/stream-state.ts';

const after = (state: StreamState, ...changes: readonly StreamChange[]): StreamState =>
  changes.reduce(nextStream, state);

const opened: StreamChange = { type: 'opened', start: 2 };
const received = (seq: number | undefined, type = 'agent.active'): StreamChange => ({
  type: 'received',
  event: { type, seq },
});
const lost = (failure?: ClientError): StreamChange => ({ type: 'lost', failure });
const away = new ClientError('unreachable', 'Away.');
const busy = new ClientError('busy', 'Busy.', { status: 503, retryAfterMs: 70 });
const forbidden = new ClientError('forbidden', 'No.', { status: 403 });

const start = startStream(undefined, 3);

test('a stream that opens is live, and its position is where the gateway says that it starts', () => {
  expect(after(start, opened)).toMatchObject({ kind: 'live', last: 2 });
});

test('a stream that opens again keeps its own position', () => {
  expect(after(start, opened, received(5), lost(), opened)).toMatchObject({ kind: 'live', last: 5 });
});

test('an event moves the position, and one without a number does not', () => {
  expect(after(start, opened, received(3), received(undefined))).toMatchObject({ kind: 'live', last: 3 });
});

test('a known event counts as repeated, and does not move the position', () => {
  const state = after(start, opened, received(4));
  expect(isRepeated(state, { type: 'agent.active', seq: 4 })).toBe(true);
  expect(isRepeated(state, { type: 'agent.active', seq: 5 })).toBe(false);
  expect(isRepeated(state, { type: 'job' })).toBe(false);
  expect(nextStream(state, received(3))).toMatchObject({ last: 4 });
});

test('a reset moves the position, also backwards', () => {
  const state = after(start, opened, received(9));
  expect(isRepeated(state, { type: 'reset', seq: 1 })).toBe(false);
  expect(nextStream(state, received(1, 'reset'))).toMatchObject({ last: 1 });
});

test('a connection that ends is reopened after a pause', () => {
  expect(after(start, opened, lost())).toMatchObject({ kind: 'waiting', failures: 1, retryAfterMs: undefined });
});

test('the pause is as long as the gateway says', () => {
  expect(nextStream(start, lost(busy))).toMatchObject({ kind: 'waiting', retryAfterMs: 70 });
});

test('connections without an event add up to failures, and an event starts the count again', () => {
  expect(after(start, opened, lost(away), opened, lost(away))).toMatchObject({ failures: 2 });
  expect(after(start, opened, lost(away), opened, received(3), lost(away))).toMatchObject({ failures: 1 });
});

test('a permanent failure fails the stream, also after it was live', () => {
  expect(nextStream(start, lost(forbidden))).toMatchObject({ kind: 'failed', failure: forbidden });
  expect(after(start, opened, lost(forbidden))).toMatchObject({ kind: 'failed', failure: forbidden });
});

test('a stream that was never open fails with its last attempt', () => {
  expect(after(start, lost(away), lost(away))).toMatchObject({ kind: 'waiting' });
  expect(after(start, lost(away), lost(away), lost(away))).toMatchObject({ kind: 'failed', failure: away });
});

test('a stream that was open once is opened again without a limit', () => {
  const changes = Array.from({ length: 9 }, () => lost(away));
  expect(after(start, opened, ...changes)).toMatchObject({ kind: 'waiting', failures: 9 });
});

test('a hidden page closes the connection, which does not count as a failure, not even in the last attempt', () => {
  expect(after(start, lost(away), lost(away), { type: 'hidden' })).toMatchObject({ kind: 'hidden', failures: 0 });
});

test('a page that is shown again connects at its position', () => {
  const state = after(start, opened, received(7), { type: 'hidden' }, { type: 'shown' });
  expect(state).toMatchObject({ kind: 'connecting', last: 7, failures: 0 });
});
