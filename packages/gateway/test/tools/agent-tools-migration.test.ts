import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { describe, expect, test } from 'vitest';
import { agentsUsing } from '../../src/domain/tools/used-by.ts';
import { agentTools } from '../../src/ports/store/migrations/0005-agent-tools.ts';
import { forEachTest } from '../support/for-all-tests.ts';
import { type Database, databases } from '../support/stores.ts';
import { openWorld } from '../support/world.ts';

describe.each(databases)('a database of an earlier version on $kind', ({ create }) => {
  const database = forEachTest(create);

  test('a migration finds out which agents of an earlier version name which tools', async () => {
    const world = await openWorld({ database });
    const inline = { name: 'own', executionType: 'internal', execution: { value: 1 } };
    const [one, two] = [await world.agent('One', { tools: ['a', inline, 'b'] }), await world.agent('Two')];
    const three = await world.agent('Three', { tools: ['b'] });
    await world.stop();
    await undoMigration(database);
    const store = await database.open();
    await store.transaction((tx) => agentTools.up(tx.db));
    const uses = await store.transaction((tx) => agentsUsing(tx.db, ['a', 'b', 'own']));
    await store.close();
    const named = uses.map(({ agentId, reference }) => `${agentId} ${reference}`).sort();
    expect(named).toEqual([`${one} a`, `${one} b`, `${three} b`].sort());
    expect(uses.some(({ agentId }) => agentId === two)).toBe(false);
  });
});

/** As the version before it left its table. */
async function undoMigration({ kind, location }: Database): Promise<void> {
  const statements = 'drop table agent_tools';
  if (kind === 'sqlite') {
    const database = new DatabaseSync(join(location, 'lastcall.db'));
    database.exec(statements);
    return database.close();
  }
  const client = new Client({ connectionString: location });
  await client.connect();
  await client.query(statements);
  await client.end();
}
