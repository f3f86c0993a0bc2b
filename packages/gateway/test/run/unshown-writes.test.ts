import { describe, expect, test } from 'vitest';
import { spacesChecked, spacesShown } from '../../src/runtime/journal/space-audience.ts';
import { UnshownWrites } from '../../src/runtime/journal/unshown-writes.ts';
import type { Write } from '../../src/runtime/run/run-write.ts';

const event = (type: string, id: string, spaceId = 'hall'): Write => ({
  kind: 'space-event',
  spaceId,
  type,
  payload: type.startsWith('message') ? { streamId: id } : { callId: id },
});
const card = (callId: string): Write => ({
  kind: 'open-card',
  card: { spaceId: 'hall', callId, toolName: 'pay', input: {} },
  unseenInput: '',
});
const waits = (callId: string, rawInput?: string): Write =>
  ({ kind: 'pending-call', call: { callId }, spaceId: 'hall', rawInput }) as unknown as Write;
const reply = (messageId: string): Write => ({
  kind: 'post-reply',
  spaceId: 'hall',
  messageId,
  text: 'All done.',
  unseen: 'done.',
});

describe('what a space does not see of an agent that has left it', () => {
  /** "new" began when the agent had left, and a part of "old" was shown before. */
  const unshown = new UnshownWrites((callId) => `{"of":"${callId}"}`);
  unshown.add(
    [
      event('tool-call.start', 'new'),
      event('tool-input-delta', 'new'),
      event('tool-input-delta', 'old'),
      event('tool-call.start', 'elsewhere', 'attic'),
      event('message.start', 'new message'),
      event('message.delta', 'old message'),
    ],
    'hall',
  );

  test('[G1] a call or message that began there has no start, no end and no card', () => {
    const later = [event('tool-input-delta', 'new'), event('tool-call.cancelled', 'new'), card('new')];
    expect(unshown.without([...later, event('message.cancelled', 'new message')])).toEqual([]);
    expect(unshown.cardsIn([...later, card('old')])).toEqual([
      { spaceId: 'hall', callId: 'new', toolName: 'pay', input: {} },
    ]);
  });

  test('[G1] one of which a part was shown has only its end', () => {
    const end = event('message.cancelled', 'old message');
    expect(unshown.without([event('message.delta', 'old message'), end])).toEqual([end]);
    expect(unshown.without([event('tool-call.progress', 'old'), card('old'), waits('old')])).toEqual([
      card('old'),
      waits('old'),
    ]);
  });

  test('if the agent is back, a call that waits shows its whole input, and a reply is posted as a whole', () => {
    expect(unshown.without([waits('new')])).toEqual([waits('new', '{"of":"new"}')]);
    expect(unshown.without([reply('new message')])).toEqual([
      { kind: 'post-reply', spaceId: 'hall', messageId: 'new message', text: 'All done.' },
    ]);
    expect(unshown.without([reply('old message')])).toEqual([reply('old message')]);
  });

  test('other spaces, and what begins later, are not affected', () => {
    const others = [event('tool-input-delta', 'elsewhere', 'attic'), event('tool-call.start', 'later'), card('later')];
    expect(unshown.without(others)).toEqual(others);
    expect(unshown.cardsIn(others)).toEqual([]);
  });
});

describe('the spaces in which writes show something', () => {
  const shown = [event('message.start', 'a', 'attic'), event('message.start', 'a'), event('message.delta', 'a')];

  test('are those of events other than ends', () => {
    const ends = [event('message.cancelled', 'a', 'yard'), event('tool-call.cancelled', 'b', 'yard')];
    expect([...spacesShown([...shown, ...ends])]).toEqual(['attic', 'hall']);
    expect(spacesShown(ends).size).toBe(0);
  });

  test('are checked by the writes themselves if they open a card there or post the message that they show', () => {
    expect([...spacesChecked([event('tool-call.start', 'a'), card('a')])]).toEqual(['hall']);
    const post: Write = { kind: 'staged-writes', callId: 'a' };
    expect([...spacesChecked([...shown, post])]).toEqual(['hall']);
    expect([...spacesChecked([...shown, { ...post, callId: 'b' }])]).toEqual([]);
    expect([...spacesChecked([event('tool-call.progress', 'a'), post])]).toEqual([]);
  });
});
