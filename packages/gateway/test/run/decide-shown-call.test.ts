import { expect, test } from 'vitest';
import type { RunningState } from '../../src/runtime/run/run-state.ts';
import { appended, decided, ended, inHall, kinds, nowhere, reply, runs, started, wrote } from './decided.ts';

const inSpace = (spaceId: string, type: string, payload: object) => ({ kind: 'space-event', spaceId, type, payload });
const start = { streamId: 'c', callId: 'c', toolName: 'shown', entityId: 'bot', runId: 'run' };
const again = (attempt: number) => ({ type: 'step-started', step: 1, attempt }) as const;

test.each([
  { who: 'a visible call', toolName: 'shown', from: inHall, seen: ['hall tool-call.start'] },
  { who: 'a message', toolName: 'send_message', from: inHall, seen: ['hall message.start'] },
  { who: 'an invisible call', toolName: 'hidden', from: inHall, seen: [] },
  { who: 'a visible call of an agent in no space', toolName: 'shown', from: nowhere, seen: [] },
  { who: 'a message of an agent in no space', toolName: 'send_message', from: nowhere, seen: [] },
])('when the model begins to write $who, the space sees $seen', ({ toolName, from, seen }) => {
  expect(kinds(decided(from, started('c', toolName)).writes)).toEqual(seen);
});

test('a visible call is shown with its id, tool, agent and run, and its input as the model writes it', () => {
  expect(decided(inHall, started('c', 'shown'), wrote('c', '{"a"'), wrote('c', ':1}')).writes).toEqual([
    inSpace('hall', 'tool-call.start', start),
    inSpace('hall', 'tool-input-delta', { callId: 'c', delta: '{"a"' }),
    inSpace('hall', 'tool-input-delta', { callId: 'c', delta: ':1}' }),
  ]);
});

test('of a message its text is shown and not its JSON', () => {
  const events = [started('c', 'send_message'), wrote('c', '{"text":"', ''), wrote('c', 'Hi', 'Hi')];
  expect(decided(inHall, ...events).writes.slice(1)).toEqual([
    inSpace('hall', 'message.delta', { streamId: 'c', delta: 'Hi' }),
  ]);
});

test('of a message whose text has not begun when the reply is complete nothing is shown, and above all not its JSON', () => {
  const complete = appended(reply({ callId: 'c', toolName: 'send_message', input: '{"text":"Hi"}' }));
  const { last } = decided(inHall, started('c', 'send_message'), complete);
  expect(last.filter(({ kind }) => kind === 'space-event')).toEqual([]);
});

test('a message that is sent to another space than the one that saw its beginning is withdrawn there and shown whole', () => {
  const input = { text: 'Hi there' };
  const sent = ended({ status: 'ok', value: { spaceId: 'attic' }, text: '' }, { toolName: 'send_message', input });
  const { last } = decided(inHall, started('c', 'send_message'), wrote('c', '{"text":"Hi', 'Hi'), sent);
  expect(kinds(last).slice(0, 3)).toEqual(['hall message.cancelled', 'attic message.start', 'attic message.delta']);
  expect(last[2]).toMatchObject({ payload: { delta: 'Hi there' } });
});

test('[G20] nothing is shown of calls after an enter_space in the same reply', () => {
  const events = [started('e', 'enter_space'), started('c', 'shown'), wrote('c', '{}'), started('m', 'send_message')];
  expect(decided(inHall, ...events).writes).toEqual([]);
});

test('[G20] the next reply is shown again', () => {
  expect(kinds(decided(inHall, started('e', 'enter_space'), again(1), started('c', 'shown')).writes)).toEqual([
    'hall tool-call.start',
  ]);
});

test('a reply that breaks off withdraws everything that was shown of it', () => {
  const { last, state } = decided(inHall, started('c', 'shown'), started('m', 'send_message'), again(2));
  expect(last).toEqual([
    inSpace('hall', 'tool-call.cancelled', { callId: 'c', reason: 'The reply broke off.' }),
    inSpace('hall', 'message.cancelled', { streamId: 'm', reason: 'The reply broke off.' }),
  ]);
  expect((state as RunningState).shown.size).toBe(0);
});

test('a complete reply shows the rest of its inputs and withdraws calls that it does not contain', () => {
  const events = [started('c', 'shown'), wrote('c', '{"a"'), started('gone', 'shown')];
  const complete = appended(reply({ callId: 'c', toolName: 'shown', input: '{"a":1}' }));
  expect(decided(inHall, ...events, complete).last.slice(0, 2)).toEqual([
    inSpace('hall', 'tool-input-delta', { callId: 'c', delta: ':1}' }),
    inSpace('hall', 'tool-call.cancelled', {
      callId: 'gone',
      reason: 'The complete reply does not contain this call.',
    }),
  ]);
});

test('an input that differs from what was shown of it is not shown again', () => {
  const events = [started('c', 'shown'), wrote('c', '{"b"')];
  const complete = appended(reply({ callId: 'c', toolName: 'shown', input: '{"a":1}' }));
  expect(kinds(decided(inHall, ...events, complete).last)).toEqual(['entry', 'call-planned']);
});

test('a visible call that starts gets a card with what the space has not seen of its input', () => {
  const { last, state } = decided(
    inHall,
    started('c', 'shown'),
    wrote('c', '{"a"'),
    runs('c', { rawInput: '{"a":1}' }),
  );
  const card = { spaceId: 'hall', callId: 'c', toolName: 'shown', input: {} };
  expect(last).toEqual([{ kind: 'open-card', card, unseenInput: ':1}' }]);
  expect((state as RunningState).cards).toEqual(new Set(['c']));
});

test('[G20] a visible call that was not shown while it was written is shown as a whole where the agent is when it starts', () => {
  const { writes } = decided(inHall, runs('c', { spaceId: 'other', rawInput: '{"a":1}' }));
  expect(kinds(writes)).toEqual(['other tool-call.start', 'open-card']);
  expect(writes[1]).toMatchObject({ card: { spaceId: 'other' }, unseenInput: '{"a":1}' });
});

test('a call that has a card gets no other', () => {
  const recovered = { type: 'calls-recovered', cards: ['c'], lost: [] } as const;
  const shown = [{ callId: 'c', kind: 'tool', spaceId: 'hall', shownText: '{}' } as const];
  expect(decided(inHall, { ...recovered, shown }, runs('c')).writes).toEqual([]);
});

test('a refused card leaves neither a card nor a shown call, and the agent in no space', () => {
  const refused = { type: 'card-refused', callId: 'c', spaceId: 'hall' } as const;
  const { last, state } = decided(inHall, runs('c'), refused);
  expect(last).toEqual([]);
  expect(state).toMatchObject({ activeSpaceId: null, cards: new Set(), shown: new Map() });
});

test('a refused card in a space that the agent has left since does not move it', () => {
  const refused = { type: 'card-refused', callId: 'c', spaceId: 'other' } as const;
  expect(decided(inHall, runs('c', { spaceId: 'other' }), refused).state).toMatchObject({ activeSpaceId: 'hall' });
});

test('[G41] of the calls that another worker showed, those of a broken reply are cancelled, and the others continue', () => {
  const shown = { callId: 'c', kind: 'tool', spaceId: 'hall', shownText: '{"a"' } as const;
  const lost = { callId: 'm', kind: 'message', spaceId: 'other', shownText: 'Hi' } as const;
  const recovered = { type: 'calls-recovered', cards: ['d'], shown: [shown], lost: [lost] } as const;
  const { writes, state } = decided(inHall, recovered);
  expect(writes).toEqual([inSpace('other', 'message.cancelled', { streamId: 'm', reason: 'The reply broke off.' })]);
  expect(state).toMatchObject({ cards: new Set(['d']), shown: new Map([['c', shown]]) });
});

test('progress of a visible call is shown, and that of a message or of an invisible call is not', () => {
  const progress = (callId: string) => ({ type: 'progress-reported', callId, value: 0.5 }) as const;
  const events = [started('c', 'shown'), started('m', 'send_message'), started('h', 'hidden')];
  expect(decided(inHall, ...events, progress('c')).last).toEqual([
    inSpace('hall', 'tool-call.progress', { callId: 'c', value: 0.5 }),
  ]);
  expect(decided(inHall, ...events, progress('m'), progress('h')).last).toEqual([]);
});

test('the reply of one instance of a machine, and its retry, do not affect what others write at the same time', () => {
  const [one, two] = [
    { ...started('c', 'shown'), by: 'root.1' },
    { ...started('m', 'send_message'), by: 'root.2' },
  ];
  const retry = { ...again(2), by: 'root.1' };
  const ofOne = { ...reply({ callId: 'd', toolName: 'shown', input: '{}' }), thread: 'root.1', instanceId: 'root.1' };
  const { writes, state } = decided(inHall, one, two, retry, appended(ofOne));
  expect(kinds(writes)).toEqual([
    'hall tool-call.start',
    'hall message.start',
    'hall tool-call.cancelled',
    'entry',
    'call-planned',
  ]);
  expect([...(state as RunningState).shown.keys()]).toEqual(['m']);
});

test('a piece of an input costs the same, however many calls the space sees', () => {
  const { state } = decided(inHall, started('a', 'shown'), wrote('a', '{"a"'), started('b', 'shown'), wrote('b', '{'));
  const { state: next } = decided(state, wrote('b', '"b":1}'));
  expect((next as RunningState).shown).toBe((state as RunningState).shown);
});

test('calls whose inputs are written in turns keep all of their texts', () => {
  const events = [
    started('a', 'shown'),
    started('b', 'shown'),
    wrote('a', '{"a"'),
    wrote('b', '{"b"'),
    wrote('a', ':1'),
  ];
  const calls = ['a', 'b'].map((callId) => ({ callId, toolName: 'shown', input: `{"${callId}":1}` }));
  expect(decided(inHall, ...events, appended(reply(...calls))).last.slice(0, 2)).toEqual([
    inSpace('hall', 'tool-input-delta', { callId: 'a', delta: '}' }),
    inSpace('hall', 'tool-input-delta', { callId: 'b', delta: ':1}' }),
  ]);
});

test('[G20] a call that is shown again after its reply broke off begins without text', () => {
  const complete = appended(reply({ callId: 'c', toolName: 'shown', input: '{"a":1}' }));
  const events = [started('c', 'shown'), wrote('c', '{"a"'), again(2), started('c', 'shown'), complete];
  expect(decided(inHall, ...events).last[0]).toEqual(
    inSpace('hall', 'tool-input-delta', { callId: 'c', delta: '{"a":1}' }),
  );
});
