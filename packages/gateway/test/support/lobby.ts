import type { World } from './world.ts';

export interface Lobby {
  readonly ada: string;
  readonly bot: string;
  readonly space: string;
}

/** A person and an agent in one space; `isIn`: the agent has entered it. */
export async function lobby(world: World, config: object = {}, { isIn = false } = {}): Promise<Lobby> {
  const [ada, bot] = [await world.person('Ada'), await world.agent('Bot', config)];
  const space = await world.space('Lobby', [ada, bot]);
  if (isIn)
    await world.store.transaction(({ db }) =>
      db.updateTable('agents').set({ active_space_id: space }).where('id', '=', bot).execute(),
    );
  return { ada, bot, space };
}
