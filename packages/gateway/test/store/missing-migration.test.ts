import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { forEachTest } from '../support/for-all-tests.ts';
import { databases } from '../support/stores.ts';

const CREATES_A_TABLE = '0033-agent-failures';

describe.each(databases)('a database on $kind whose newest migrations were not recorded', ({ create }) => {
  const database = forEachTest(create);

  test('a store runs a migration that the database does not know, and says which one failed', async () => {
    const store = await database.open();
    await store.transaction((tx) => sql`delete from kysely_migration where name >= ${CREATES_A_TABLE}`.execute(tx.db));
    await store.close();
    // Its table is there already, so it cannot succeed: what matters is that it was tried.
    await expect(database.open()).rejects.toThrow(`migration ${CREATES_A_TABLE} failed, and was undone`);
  });

  test('[S18] a database whose migrations are those of another program is not taken for one of a newer Lastcall', async () => {
    const store = await database.open();
    await store.transaction(async (tx) => {
      await sql`delete from kysely_migration`.execute(tx.db);
      await sql`insert into kysely_migration (name, timestamp) values ('001-songs', '2020-01-01')`.execute(tx.db);
    });
    await store.close();
    await expect(database.open()).rejects.toThrow(/is a database of another program/);
  });
});
