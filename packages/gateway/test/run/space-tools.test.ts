import { type ScriptedReply, scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { pushEvent } from '../../src/domain/inbox/push-event.ts';
import { removeMember } from '../../src/domain/spaces/membership.ts';
import { spaceStream } from '../../src/domain/streams/stream-names.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { resultsOf, situationOf } from '../support/requests.ts';
import type { World } from '../support/world.ts';

const textsIn = async (world: World, space: string): Promise<unknown[]> =>
  (
    await world.store.db.selectFrom('messages').select('content').where('space_id', '=', space).orderBy('seq').execute()
  ).map(({ content }) => JSON.parse(content));

/** Replies in each run's first step with the script, and then ends. */
const steps = (...replies: ScriptedReply[]) =>
  scriptedModel((_request, invocation) => replies[invocation - 1] ?? 'Done.');

describeWorlds('the tools of every agent', (open) => {
  test('[G18] every agent has the built-in tools, and nothing of earlier designs', async () => {
    const model = steps('Done.');
    const world = await open({ models: { default: model } });
    const { ada, space } = await lobby(world);
    await world.say(space, ada, 'Hi');
    await world.idle();
    const names = model.requests[0]?.tools?.map(({ name }) => name) ?? [];
    for (const name of [
      'enter_space',
      'send_message',
      'read_messages',
      'set_goals',
      'delete_goals',
      'set_memories',
      'delete_memories',
      'set_plans',
      'delete_plans',
      'get_plans',
    ])
      expect(names).toContain(name);
    for (const gone of ['stop_run', 'absorb_run', 'get_my_runs', 'delegateToAgent', 'skipResponse'])
      expect(names).not.toContain(gone);
  });

  test('[G18] no built-in call is visible, and none can be overridden', async () => {
    const model = steps({ toolName: 'set_goals', input: { goals: [{ description: 'Help' }] } });
    const world = await open({ models: { default: model } });
    const { ada, space } = await lobby(world, {}, { isIn: true });
    await world.say(space, ada, 'Hi');
    await world.idle();
    expect(await textsIn(world, space)).toEqual(['Hi']);
    await expect(
      world.agent('Thief', { tools: [{ name: 'send_message', executionType: 'internal', execution: { value: 1 } }] }),
    ).rejects.toMatchObject({ code: 'invalid_config', details: { path: expect.stringContaining('tools[0]') } });
  });

  test('[G19] a space the agent is not in cannot be entered, and the active one stays; another gives its messages and members, and lasts', async () => {
    const model = steps();
    const world = await open({ models: { default: model } });
    const { ada, bot, space } = await lobby(world, {}, { isIn: true });
    const [secret, other] = [await world.space('Secret', [ada]), await world.space('Other', [ada, bot])];
    Object.assign(
      model,
      scriptedModel(() => 'Done.'),
    );
    const script = [
      { toolName: 'enter_space', input: { spaceId: secret } },
      'Done.',
      { toolName: 'enter_space', input: { spaceId: other } },
      'Done.',
      'Done.',
    ];
    const told: string[] = [];
    Object.assign(model, {
      doStream: scriptedModel((request, invocation) => {
        told.push(resultsOf(request).at(-1)?.text ?? '');
        return script[invocation - 1] ?? 'Done.';
      }).doStream,
    });
    const active = async () =>
      (await world.store.db.selectFrom('agents').select('active_space_id').where('id', '=', bot).executeTakeFirst())
        ?.active_space_id;
    await world.say(space, ada, 'one');
    await world.idle();
    expect(told[1]).toContain(`There is no space "${secret}"`);
    expect(await active()).toBe(space);
    await world.say(space, ada, 'two');
    await world.idle();
    expect(await active()).toBe(other);
    const [title, members = '', ...messages] = (told[3] ?? '').split('\n');
    expect(title).toBe('Space 2 (Other)');
    expect(members.replace('Members: ', '').split(', ').toSorted()).toEqual(['Ada', 'Bot (agent)']);
    expect(messages).toEqual([]);
    await world.store.transaction((tx) => removeMember(tx, { spaceId: other, entityId: bot }));
    expect(await active()).toBe(null);
  });

  test('[G19] enter_space says that a large space has more members than it shows', async () => {
    const told: string[] = [];
    const ids: { large?: string } = {};
    const model = scriptedModel((request) => {
      const [result] = resultsOf(request);
      if (result === undefined) return { toolName: 'enter_space', input: { spaceId: ids.large } };
      told.push(result.text);
      return 'Done.';
    });
    const world = await open({ models: { default: model } });
    const { ada, bot, space } = await lobby(world, {}, { isIn: true });
    const people: string[] = [];
    for (let number = 0; number < 99; number++) people.push(await world.person(`Person ${number}`));
    ids.large = await world.space('Large', [ada, bot, ...people]);
    await world.say(space, ada, 'Go there');
    await world.idle();
    const [, members = ''] = (told[0] ?? '').split('\n');
    expect(members.split(', ')).toHaveLength(101);
    expect(members).toMatch(/, and others$/);
  });

  test('[G20] enter_space and send_message in one batch: the message and its events are in the new space only', async () => {
    const world0: { other?: string } = {};
    const model = scriptedModel((_request, invocation) =>
      invocation === 1
        ? [
            { toolName: 'enter_space', input: { spaceId: world0.other } },
            { toolName: 'send_message', input: { text: 'Here I am.' } },
          ]
        : 'Done.',
    );
    const world = await open({ models: { default: model } });
    const { ada, bot, space } = await lobby(world, {}, { isIn: true });
    world0.other = await world.space('Other', [ada, bot]);
    await world.say(space, ada, 'Go there');
    await world.idle();
    expect(await textsIn(world, space)).toEqual(['Go there']);
    expect(await textsIn(world, world0.other)).toEqual(['Here I am.']);
    const here = (await world.events(spaceStream(space))).map(({ type }) => type);
    const there = (await world.events(spaceStream(world0.other))).map(({ type }) => type);
    expect(here.slice(2)).toEqual(['message.complete', 'agent.active', 'agent.inactive']);
    expect(there.slice(2)).toEqual([
      'agent.active',
      'message.start',
      'message.delta',
      'message.complete',
      'agent.inactive',
    ]);
  });

  test('[G20] a message that was shown and never sent is cancelled', async () => {
    const model = steps([{ toolName: 'send_message', input: { text: 'A reply', replyTo: 'nothing' } }]);
    const world = await open({ models: { default: model } });
    const { ada, space } = await lobby(world, {}, { isIn: true });
    await world.say(space, ada, 'Hi');
    await world.idle();
    const shown = (await world.events(spaceStream(space)))
      .filter(({ type }) => type.startsWith('message.'))
      .map(({ type }) => type);
    expect(shown).toEqual(['message.complete', 'message.start', 'message.delta', 'message.cancelled']);
    expect(await textsIn(world, space)).toEqual(['Hi']);
  });

  test('[G21] without an active space send_message fails and lists the spaces', async () => {
    const told: string[] = [];
    const model = scriptedModel((request, invocation) => {
      told.push(resultsOf(request).at(-1)?.text ?? '');
      return invocation === 1 ? { toolName: 'send_message', input: { text: 'Hello?' } } : 'Done.';
    });
    const world = await open({ models: { default: model } });
    const { bot, space } = await lobby(world);
    const event = { type: 'service', source: 'test', name: 'tick', data: null } as const;
    await world.in((tx) => pushEvent(tx, { threadId: bot, eventId: 'tick', event }));
    await world.idle();
    expect(told[1]).toContain('You have no active space.');
    expect(told[1]).toContain('Your spaces: 1 (');
    expect(await textsIn(world, space)).toEqual([]);
  });

  test('[G21] read_messages pages from the newest by offset and limit, and only in the agent’s own spaces', async () => {
    const ids: { space?: string; secret?: string } = {};
    const told: string[] = [];
    const model = scriptedModel((request, invocation) => {
      if (invocation > 1) told.push(...resultsOf(request).map(({ text }) => text));
      return invocation === 1
        ? [
            { toolName: 'read_messages', input: { spaceId: ids.space, offset: 1, limit: 2 } },
            { toolName: 'read_messages', input: { spaceId: ids.secret } },
          ]
        : 'Done.';
    });
    const world = await open({ models: { default: model } });
    const { ada, bot } = await lobby(world);
    ids.space = await world.space('Read', [ada]);
    ids.secret = await world.space('Secret', [ada]);
    for (const text of ['1', '2', '3', '4']) await world.say(ids.space, ada, text);
    const { addMember } = await import('../../src/domain/spaces/membership.ts');
    await world.store.transaction((tx) => addMember(tx, { spaceId: ids.space as string, entityId: bot }));
    await world.say(ids.space, ada, '5');
    await world.idle();
    expect(told[0]).toBe('m4 Ada: 4\nm3 Ada: 3');
    expect(told[1]).toContain('There is no space');
  });

  test('[G22] goals, memories and plans of an agent are in its prompt with their keys, and those of another agent are "not found"', async () => {
    const told: string[] = [];
    const model = scriptedModel((request, invocation) => {
      told.push(resultsOf(request).at(-1)?.text ?? '');
      return (
        [
          { toolName: 'set_goals', input: { goals: [{ key: 'help', description: 'Help Ada' }] } },
          { toolName: 'delete_goals', input: { keys: ['theirs'] } },
        ][invocation - 1] ?? 'Done.'
      );
    });
    const world = await open({ models: { default: model } });
    const { ada, space } = await lobby(world);
    await world.say(space, ada, 'Hi');
    await world.idle();
    expect(told[1]).toContain('help');
    expect(situationOf(model.requests[1] as never)).toContain('help, active: Help Ada');
    expect(told[2]).toMatch(/theirs/);
  });
});
