import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { forEachTest } from '../support/for-all-tests.ts';
import { runStatements } from '../support/run-statements.ts';
import { databases } from '../support/stores.ts';

describe.each(databases)('a database on $kind with another list of migrations', ({ create }) => {
  const database = forEachTest(create);

  const rename = async (statements: readonly string[]): Promise<void> => {
    const store = await database.open();
    await store.transaction(async (tx) => {
      for (const statement of statements) await sql.raw(statement).execute(tx.db);
    });
    await store.close();
  };

  test('a store runs a migration that the database does not know, and says which one failed', async () => {
    await rename(['delete from kysely_migration']);
    // Its tables exist already, so it cannot succeed: the test checks only that it was tried.
    await expect(database.open()).rejects.toThrow('migration 0001-initial failed, and was undone');
  });

  test('a database of a newer or of an early version is refused, and the error says what to do', async () => {
    await rename([`insert into kysely_migration (name, timestamp) values ('0099-future', '')`]);
    await expect(database.open()).rejects.toThrow(
      /newer version of Lastcall .* \(migration 0099-future\)\. Install that/,
    );
    await runStatements(database, [
      `update kysely_migration set name = '0002-waiting-indexes' where name = '0099-future'`,
    ]);
    await expect(database.open()).rejects.toThrow(/early version .* Start it once with a version that has 0034/);
  });

  test('[S18] a database with migrations of another program is not reported as one of a newer Lastcall', async () => {
    const store = await database.open();
    await store.transaction(async (tx) => {
      await sql`delete from kysely_migration`.execute(tx.db);
      await sql`insert into kysely_migration (name, timestamp) values ('001-songs', '2020-01-01')`.execute(tx.db);
    });
    await store.close();
    await expect(database.open()).rejects.toThrow(/is a database of another program/);
  });
});
