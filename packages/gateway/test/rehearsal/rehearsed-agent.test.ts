import { tool } from '@lastcall/core';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { answer } from '../../src/domain/calls/answer-call.ts';
import { rehearsalModel } from '../../src/models/rehearsal/rehearsal-model.ts';
import { fromJson } from '../../src/ports/store/schema/json.ts';
import { draft, stopOf, waitingIn } from '../forks/forking.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { waitingOf } from '../support/waiting-of.ts';
import type { World } from '../support/world.ts';

const book_hotel = tool({
  description: 'Books a hotel room.',
  inputSchema: z.object({ city: z.string(), nights: z.number().int() }),
  approval: true,
  execute: ({ city, nights }) => `Room 5 in ${city}, ${nights} nights.`,
});

const textsBy = async (world: World, entityId: string): Promise<string[]> => {
  const said = world.store.db.selectFrom('messages').select('content').where('entity_id', '=', entityId);
  return (await said.where('kind', '=', 'text').orderBy('seq').execute()).map(({ content }) =>
    fromJson<string>(content),
  );
};

describeWorlds('a rehearsed agent', (open) => {
  test('[G36] a rehearsed agent waits for an approval, and then reports the outcome of the call', async () => {
    const world = await open({ models: { default: rehearsalModel() }, tools: { book_hotel } });
    const { ada, bot, space } = await lobby(world, { tools: ['book_hotel'] });
    await world.say(space, ada, 'Please book a hotel in Rome for 3 nights.');
    await world.idle();
    expect((await textsBy(world, bot)).at(-1)).toMatch(/I called book_hotel, and wait for its answer\.$/);
    const pending = await waitingOf(world, bot);
    await answer(world.services, { ...pending, answer: { approve: true }, by: { entityId: ada } });
    await world.idle();
    expect((await textsBy(world, bot)).at(-1)).toMatch(
      /Ada approved book_hotel, and it says: Room 5 in Rome, 3 nights\.$/,
    );
  });

  test('[S25] a draft of a rehearsed agent in a space does what the message says, and calls with external effects wait', async () => {
    const look = tool({
      description: 'Fetches the weather of a city.',
      inputSchema: z.object({ city: z.string() }),
      effects: 'none',
      execute: ({ city }) => `Sun in ${city}.`,
    });
    const world = await open({ models: { default: rehearsalModel() }, tools: { book_hotel, fetch_weather: look } });
    const { bot } = await lobby(world, { tools: ['book_hotel', 'fetch_weather'] });
    const { runId } = await draft(world, bot, { message: 'What is the weather in Oslo?' });
    expect(await stopOf(world, runId)).toMatchObject({ response: expect.stringContaining('Sun in Oslo.') });
    const { contextId } = await draft(world, bot, { message: 'Book a hotel in Rome for 3 nights.' });
    expect((await waitingIn(world, contextId)).map(({ tool_name }) => tool_name)).toEqual(['book_hotel']);
  });
});
