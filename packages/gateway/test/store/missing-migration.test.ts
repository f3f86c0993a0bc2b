import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { forEachTest } from '../support/for-all-tests.ts';
import { databases } from '../support/stores.ts';

describe.each(databases)('a database on $kind whose newest migration was not recorded', ({ create }) => {
  const database = forEachTest(create);

  test('a store runs a migration that the database does not know, and says which one failed', async () => {
    const store = await database.open();
    const newest = sql<{ name: string }>`delete from kysely_migration
      where name = (select max(name) from kysely_migration) returning name`;
    const { rows } = await store.transaction((tx) => newest.execute(tx.db));
    await store.close();
    // Its tables are there already, so it cannot succeed: what matters is that it was tried.
    await expect(database.open()).rejects.toThrow(`migration ${rows[0]?.name} failed, and was undone`);
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
