import type { Entry } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { charter, node } from '@lastcall/machines';
import { describe, expect, test } from 'vitest';
import type { Situation } from '../../src/domain/agents/describe-agent.ts';
import { updateAgent } from '../../src/domain/agents/update-agent.ts';
import { frameMessage } from '../../src/domain/frame.ts';
import { showFrame } from '../../src/domain/frame-words.ts';
import type { InboxEvent } from '../../src/domain/inbox/inbox-event.ts';
import { isContinued, isToldBy, type NextInbox, toldPlace, withFullInbox } from '../../src/domain/inbox/inbox-place.ts';
import { renderInbox } from '../../src/domain/inbox/render-inbox.ts';
import { removeMember } from '../../src/domain/spaces/membership.ts';
import { postMessage } from '../../src/domain/spaces/post-message.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { inboxLines, situationOf, textsOf } from '../support/requests.ts';

const NOON = Date.UTC(2026, 0, 1, 12);
const minutes = (count: number): number => count * 60_000;

const message = (text: string, space: { id?: string; name?: string } = {}): InboxEvent => ({
  type: 'space_message',
  messageId: 'x',
  spaceId: space.id ?? 's1',
  spaceName: space.name ?? 'Books',
  spaceNumber: 1,
  seq: 1,
  from: { entityId: 'e1', name: 'Ada', kind: 'human' },
  text,
});
const approval: InboxEvent = {
  type: 'tool_result',
  callId: '1-1',
  toolName: 'pay',
  input: {},
  outcome: { status: 'approved' },
};
const plan: InboxEvent = { type: 'plan', planId: 'p', key: 'p', name: 'P', instruction: 'Do it.', dueAt: NOON };

function inbox(
  events: readonly InboxEvent[],
  frame: { now?: number; you?: string; isContinued?: boolean } = {},
): Entry {
  const waiting = events.map((event, index) => ({ eventId: `e${index}`, at: NOON, attempt: 1, event }));
  const text = renderInbox(waiting, { run: 1, now: NOON, you: 'Clerk', ...frame });
  return { kind: 'message', message: frameMessage(text) };
}

const entered = {
  kind: 'reply',
  content: [],
  text: '',
  step: 1,
  calls: [{ callId: 'c1', toolName: 'enter_space', input: { spaceId: '2' } }],
} as unknown as Entry;

const wordsOf = (entry: Entry | undefined): string =>
  entry?.kind === 'message' ? (showFrame((entry.message.content[0] as { text: string }).text, 'tag') ?? '') : '';

describe('[K5] an inbox that continues the previous one', () => {
  const next: NextInbox = { you: 'Clerk', now: NOON + minutes(1), activeSpaceId: 's1' };
  const continues = (before: readonly Entry[], events: readonly InboxEvent[], of: Partial<NextInbox> = {}): boolean =>
    isContinued(toldPlace(before), events, { ...next, ...of });

  test('leaves out the time, the space and the name of the agent', () => {
    expect(wordsOf(inbox([message('Hello.')]))).toBe(
      '<inbox-tag at="2026-01-01 12:00">\nSpace 1 (Books), where you are Clerk:\nm1 Ada: Hello.\n</inbox>',
    );
    expect(wordsOf(inbox([message('Hello.'), message('Again.')], { isContinued: true }))).toBe(
      '<inbox-tag>\nm1 Ada: Hello.\nm1 Ada: Again.\n</inbox>',
    );
  });

  test('has messages of the same space, or answers to calls, a few minutes later', () => {
    const first = [inbox([message('One.')])];
    expect(continues(first, [message('Two.')])).toBe(true);
    expect(continues(first, [approval])).toBe(true);
    expect(continues([...first, inbox([approval])], [message('Two.')])).toBe(true);
  });

  test.each([
    ['is the first', [], [message('Two.')], {}],
    ['comes from another space', [inbox([message('One.')])], [message('Two.', { id: 's2' })], {}],
    ['comes from two spaces', [inbox([message('One.')])], [message('Two.'), message('Three.', { id: 's2' })], {}],
    ['has another kind of event', [inbox([message('One.')])], [message('Two.'), plan], {}],
    ['follows one that had another kind of event', [inbox([message('One.'), plan])], [message('Two.')], {}],
    ['names its space anew', [inbox([message('One.')])], [message('Two.', { name: 'Ledger' })], {}],
    ['names the agent anew', [inbox([message('One.')])], [message('Two.')], { you: 'Cashier' }],
    ['comes after the agent went elsewhere', [inbox([message('One.')]), entered], [message('Two.')], {}],
    [
      'comes from a space that the agent has left',
      [inbox([message('One.')])],
      [message('Two.')],
      { activeSpaceId: 's2' },
    ],
    ['comes later', [inbox([message('One.')])], [message('Two.')], { now: NOON + minutes(5) }],
    ['has answers to calls, later', [inbox([message('One.')])], [approval], { now: NOON + minutes(5) }],
  ] as const)('does not exist if it %s', (_why, before, events, of) => {
    expect(continues(before, events, of)).toBe(false);
  });

  test('has the time again after five minutes at most, however short the pauses are', () => {
    const told: number[] = [];
    const entries: Entry[] = [];
    for (let now = NOON; now < NOON + minutes(30); now += minutes(2)) {
      const isShort = continues(entries, [message('On.')], { now });
      if (!isShort) told.push((now - NOON) / minutes(1));
      entries.push(inbox([message('On.')], { now, isContinued: isShort }));
    }
    expect(told).toEqual([0, 6, 10, 16, 20, 26]);
  });

  test.each([`Al "the <b>" Ice\n&`, '100 %', '\ud800', ''])('can contain the name %j of an agent', (you) => {
    const told = toldPlace([inbox([message('One.')], { you })]);
    expect(told?.you).toBe(you.toWellFormed());
    expect(wordsOf(inbox([message('One.')], { you })).split('\n')).toHaveLength(4);
  });

  test('is complete once a compaction has removed the inbox that it continues', () => {
    const [carried] = withFullInbox([inbox([message('Two.')], { isContinued: true })]);
    expect(wordsOf(carried)).toBe(wordsOf(inbox([message('Two.')])));
  });

  test('of another version, or clipped, has no place', () => {
    const clipped = renderInbox([], { run: 1, now: NOON, you: 'Clerk' }).replace('>', ' leftout="3">');
    const older = renderInbox([], { run: 1, now: NOON });
    for (const text of [clipped, older, '<inbox-hidden run="1" you="Clerk">\nnull\n</inbox-hidden>', 'Hello.'])
      expect(toldPlace([{ kind: 'message', message: frameMessage(text) }])).toBeUndefined();
  });
});

describe('[K5] a situation with nothing new', () => {
  const told = toldPlace([inbox([message('One.')])]);
  const plain: Situation = {
    agent: { entityId: 'e2', name: 'Clerk' },
    activeSpaceId: 's1',
    spaces: [{ spaceId: 's1', number: 1, name: 'Books' }],
    goals: [],
    memories: [],
    plans: [],
  };

  test('is one that the newest inbox tells', () => {
    expect(isToldBy(told, plain)).toBe(true);
    expect(isToldBy(undefined, plain)).toBe(false);
  });

  test.each<Partial<Situation>>([
    { agent: { entityId: 'e2', name: 'Cashier' } },
    { activeSpaceId: undefined },
    { activeSpaceId: 's2' },
    { spaces: [] },
    { spaces: [...plain.spaces, { spaceId: 's2', number: 2, name: 'Lobby' }] },
    { spaces: [{ spaceId: 's1', number: 1, name: 'Ledger' }] },
    { goals: [{ key: 'pay', description: 'Pay.' }] },
    { memories: [{ key: 'bank', value: 1 }] },
    { plans: [{ key: 'tea', name: 'Tea', instruction: 'Make tea.' }] },
  ])('is not one with %j', (more) => {
    expect(isToldBy(told, { ...plain, ...more })).toBe(false);
  });
});

describeWorlds('the situation of an agent', (open) => {
  test('[K5] once, while it stays in its one space; a goal or a second space brings the situation back', async () => {
    const model = scriptedModel((_request, asked) =>
      asked === 4 ? { toolName: 'set_goals', input: { goals: [{ description: 'Pay all.' }] } } : 'Done.',
    );
    const world = await open({ models: { default: model } });
    const [ada, bot] = [await world.person('Ada'), await world.agent('Clerk')];
    const books = await world.space('Books', [ada, bot]);
    for (const text of ['One.', 'Two.', 'Three.', 'Four.']) {
      await world.say(books, ada, text);
      await world.idle();
    }
    const [one, two, three] = model.requests;
    if (one === undefined || two === undefined || three === undefined) throw new Error('The model was not asked.');
    expect(inboxLines(one)).toEqual(['Space 1 (Books), where you are Clerk:', 'm1 Ada: One.']);
    // A new period of five minutes may begin between two of them.
    expect([inboxLines(two), inboxLines(three)]).toContainEqual([expect.stringMatching(/^m\d Ada: (Two|Three)\.$/)]);
    for (const request of [one, two, three]) expect(situationOf(request)).toEqual([]);
    const last = model.requests.at(-1);
    expect(last && situationOf(last)).toContain('Goals:');
  });

  test('[K5] an agent in two spaces gets its active space in each request', async () => {
    const model = scriptedModel(() => 'Done.');
    const world = await open({ models: { default: model } });
    const [ada, bot] = [await world.person('Ada'), await world.agent('Clerk')];
    const spaces = [await world.space('Books', [ada, bot]), await world.space('Lobby', [ada, bot])];
    for (const space of [...spaces, ...spaces]) {
      await world.say(space, ada, 'Hello.');
      await world.idle();
    }
    expect(model.requests.map((request) => situationOf(request)[1])).toEqual([
      'Active space: 1 (Books)',
      'Active space: 2 (Lobby)',
      'Active space: 1 (Books)',
      'Active space: 2 (Lobby)',
    ]);
    for (const { prompt } of model.requests)
      expect(textsOf(prompt).filter((text) => text.includes('\nSpace '))).toHaveLength(
        textsOf(prompt).filter((text) => text.startsWith('<inbox-')).length,
      );
  });

  test('[K5] messages of a space that the agent has left since are shown with their space', async () => {
    const model = scriptedModel(() => 'Done.');
    const world = await open({ models: { default: model } });
    const [ada, bot] = [await world.person('Ada'), await world.agent('Clerk')];
    const [books, lobby] = [await world.space('Books', [ada, bot]), await world.space('Lobby', [ada, bot])];
    await world.say(lobby, ada, 'Hello.');
    await world.idle();
    await world.say(books, ada, 'One.');
    await world.idle();
    await world.in(async (tx) => {
      await postMessage(world.services, tx, { spaceId: books, entityId: ada, text: 'Two.' });
      await removeMember(tx, { spaceId: books, entityId: bot });
    });
    await world.idle();
    const last = model.requests.at(-1);
    expect(last && inboxLines(last)).toEqual(['Space 1 (Books), where you are Clerk:', 'm2 Ada: Two.']);
  });

  test('[K5] an agent that becomes a machine gets its situation again, because no instance has read the earlier one', async () => {
    const model = scriptedModel(() => 'Done.');
    const machine = charter({ nodes: { desk: node({ instructions: 'Be a desk.' }) } });
    const world = await open({ models: { default: model }, definitions: { desk: { machine } } });
    const [ada, bot] = [await world.person('Ada'), await world.agent('Clerk')];
    const books = await world.space('Books', [ada, bot]);
    await world.say(books, ada, 'One.');
    await world.idle();
    await world.in((tx) => updateAgent(tx, { agentId: bot, config: { definition: 'desk' } }));
    await world.say(books, ada, 'Two.');
    await world.idle();
    const [, request] = model.requests;
    expect(request && inboxLines(request)).toEqual(['Space 1 (Books), where you are Clerk:', 'm2 Ada: Two.']);
    expect(request && situationOf(request)).toContain('Active space: 1 (Books)');
  });
});
