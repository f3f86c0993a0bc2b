import { describe, expect, test } from 'vitest';
import { createContext } from '../../src/domain/contexts/context.ts';
import { removeMember } from '../../src/domain/spaces/membership.ts';
import { forEachTest } from '../support/for-all-tests.ts';
import { runStatements } from '../support/run-statements.ts';
import { databases } from '../support/stores.ts';
import { openWorld } from '../support/world.ts';
import { undoMigrationsFrom } from './undo-migrations.ts';

describe.each(databases)('contexts of an earlier version on $kind', ({ create }) => {
  const database = forEachTest(create);

  test('[C16] those of people who never shared a space with the agent were given by a key, and those of members were not', async () => {
    const world = await openWorld({ database });
    const agentId = await world.agent();
    const [guest, member, removed] = [await world.person(), await world.person(), await world.person()];
    const spaceId = await world.space('Lobby', [agentId, member, removed]);
    await world.in(async (tx) => {
      for (const [id, ownerId] of Object.entries({ guest, member, removed, keys: undefined }))
        await createContext(tx, { id, agentId, ownerId });
      await removeMember(world.services, tx, { spaceId, entityId: removed });
    });
    await world.stop();
    await runStatements(database, undoMigrationsFrom('0031'));
    const store = await database.open();
    const rows = await store.db.selectFrom('contexts').select(['id', 'is_given']).orderBy('id').execute();
    expect(rows.map(({ id, is_given }) => [id, is_given])).toEqual([
      ['guest', 1],
      ['keys', 0],
      ['member', 0],
      ['removed', 0],
    ]);
    await store.close();
  });
});
