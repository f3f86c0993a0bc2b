import { expect, test } from 'vitest';
import { afterEvent, type SpaceView, withMessages } from '../src/react/space-view.ts';
import type { Message, SpaceEvent } from '../src/wire.generated.ts';

const message = (seq: number, more: Partial<Message> = {}): Message => ({
  ...{ id: `m${seq}`, spaceId: 's', seq, entityId: 'a', kind: 'text', text: `Text ${seq}`, status: 'complete' },
  metadata: {},
  createdAt: seq,
  updatedAt: seq,
  ...more,
});

const empty: SpaceView = {
  space: {} as SpaceView['space'],
  ...{ members: [], items: [], active: [], activeRuns: {}, failures: [], hasEarlier: false },
};

const play = (view: SpaceView, ...events: object[]): SpaceView =>
  events.reduce<SpaceView>((before, event) => afterEvent(before, { seq: 0, at: 5, ...event } as SpaceEvent), view);

test('[S2] a message keeps its id from its first letter to its end, so that a page need not replace what it shows', () => {
  const start = { type: 'message.start', streamId: 'call', messageId: 'm1', runId: 'r', entityId: 'a' };
  const writing = play(empty, start, { type: 'message.delta', streamId: 'call', delta: 'He' });
  expect(writing.items).toMatchObject([{ id: 'm1', text: 'He' }]);
  const whole = play(writing, { type: 'message.complete', streamId: 'call', message: message(1, { text: 'Hello' }) });
  expect(whole.items).toMatchObject([{ id: 'm1', text: 'Hello', message: { seq: 1 } }]);
  // Repeated or late events change nothing.
  expect(play(whole, { type: 'message.delta', streamId: 'call', delta: '!' }).items).toEqual(whole.items);
  expect(play(whole, { type: 'message.cancelled', streamId: 'call', reason: '' }).items).toEqual(whole.items);
  expect(play(writing, { type: 'message.cancelled', streamId: 'call', reason: '' }).items).toEqual([]);
});

test('[S2] a card shows its input as it is written, its progress while it runs, and its end', () => {
  const card = (status: Message['status']): Message =>
    message(2, { id: 'm2', kind: 'tool', callId: 'c', status, metadata: { toolName: 'pay' } });
  const writing = play(
    empty,
    { type: 'tool-call.start', callId: 'c', streamId: 'c', toolName: 'pay', entityId: 'a' },
    { type: 'tool-input-delta', callId: 'c', delta: '{"a":' },
  );
  expect(writing.items).toMatchObject([{ id: 'c', inputText: '{"a":' }]);
  const running = play(
    writing,
    { type: 'tool-call.start', callId: 'c', streamId: 'c', toolName: 'pay', entityId: 'a', message: card('running') },
    { type: 'tool-call.progress', callId: 'c', value: 0.5 },
  );
  expect(running.items).toMatchObject([{ id: 'c', progress: 0.5, message: { status: 'running' } }]);
  const ended = play(running, { type: 'tool-call.complete', callId: 'c', message: card('complete') });
  const late = play(ended, { type: 'tool-call.progress', callId: 'c', value: 0.9 });
  expect(late.items).toMatchObject([{ id: 'c', progress: 0.5, message: { status: 'complete' } }]);
});

test('messages are in the order of their numbers, each once, before those that are still being written', () => {
  const start = { type: 'message.start', streamId: 'x', messageId: 'm9', runId: 'r', entityId: 'a' };
  const view = play({ ...empty, items: withMessages([], [message(3), message(5)]) }, start);
  const items = withMessages(view.items, [message(1), message(4), message(5), message(6)]);
  expect(items.map(({ id }) => id)).toEqual(['m1', 'm3', 'm4', 'm5', 'm6', 'm9']);
});

test('[S2] the view has the active agents with their runs, and a failure until the agent is active again', () => {
  const active = play(empty, { type: 'agent.active', entityId: 'a', runId: 'r1' });
  expect(active).toMatchObject({ active: ['a'], activeRuns: { a: 'r1' } });
  const failed = play(
    active,
    { type: 'agent.failed', entityId: 'a', runId: 'r1', attempt: 1, retryAt: 9, text: 'No model.' },
    { type: 'agent.inactive', entityId: 'a', runId: 'r1' },
  );
  expect(failed).toMatchObject({ active: [], activeRuns: {}, failures: [{ text: 'No model.', retryAt: 9 }] });
  expect(play(failed, { type: 'agent.active', entityId: 'a', runId: 'r2' }).failures).toEqual([]);
});

test('[S2] a change of the space keeps what only its reader knows: the unread messages and the waiting calls', () => {
  const space = { id: 's', name: 'Desk', unread: 3, waiting: 1 } as unknown as SpaceView['space'];
  const changed = play({ ...empty, space }, { type: 'space.changed', space: { id: 's', name: 'Front desk' } });
  expect(changed.space).toEqual({ id: 's', name: 'Front desk', unread: 3, waiting: 1 });
});
