import { scriptedModel } from '@lastcall/core/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { spaceStream } from '../../src/domain/streams/stream-names.ts';
import { type Database, databases } from '../support/stores.ts';
import { openWorld, type World, type WorldOptions } from '../support/world.ts';

describe.each(databases)('runs on $kind', ({ create }) => {
  let database: Database;
  const worlds: World[] = [];
  beforeEach(async () => {
    database = await create();
  });
  afterEach(async () => {
    for (const world of worlds.splice(0)) await world.stop();
    await database.remove();
  });
  const open = async (options: Omit<WorldOptions, 'database'>): Promise<World> => {
    const world = await openWorld({ database, ...options });
    worlds.push(world);
    return world;
  };

  test('[G12] a person writes, the agent wakes, enters the space and answers; its text stays private', async () => {
    const model = scriptedModel((request, invocation) => {
      const spaceId = spaceIn(request);
      if (invocation === 1)
        return [
          { toolName: 'enter_space', input: { spaceId } },
          { toolName: 'send_message', input: { text: 'Hello, Ada.' } },
        ];
      return 'I greeted her.';
    });
    const world = await open({ models: { default: model } });
    await world.start();
    const [ada, bot] = [await world.person('Ada'), await world.agent('Bot')];
    const space = await world.space('Lobby', [ada, bot]);
    await world.say(space, ada, 'Hi!');
    await world.idle();
    const messages = await world.store.db
      .selectFrom('messages')
      .select(['seq', 'entity_id', 'content', 'kind'])
      .orderBy('seq')
      .execute();
    expect(messages).toEqual([
      { seq: 1, entity_id: ada, content: '"Hi!"', kind: 'text' },
      { seq: 2, entity_id: bot, content: '"Hello, Ada."', kind: 'text' },
    ]);
    const events = await world.events(spaceStream(space));
    expect(events.map(({ type }) => type)).toEqual([
      'member.joined',
      'member.joined',
      'message.complete',
      'agent.active',
      'message.start',
      'message.delta',
      'message.complete',
      'agent.inactive',
    ]);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    const runs = await world.store.db.selectFrom('runs').select(['status', 'number']).execute();
    expect(runs).toEqual([{ status: 'completed', number: 1 }]);
    expect(world.logs.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

/** The space of the last event in the inbox. */
function spaceIn(request: { prompt: readonly { content: unknown }[] }): string {
  const text = JSON.stringify(request.prompt);
  return /Space (\d+) \(/.exec(text)?.[1] ?? 'none';
}
