import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { openSqliteStore } from '../../src/ports/store/sqlite/sqlite-store.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

/** Overwrites the first page of a table. SQLite reads it only when the table is read. */
async function damage(home: string, table: string): Promise<void> {
  const path = join(home, 'lastcall.db');
  const database = new DatabaseSync(path);
  const { rootpage, size } = database
    .prepare('select rootpage, (select page_size from pragma_page_size) as size from sqlite_master where name = ?')
    .get(table) as { rootpage: number; size: number };
  database.close();
  const file = await open(path, 'r+');
  await file.write(Buffer.alloc(size, 0xaa), 0, size, (rootpage - 1) * size);
  await file.close();
}

test('[S18] an error of a file that is damaged in part says so and what to do, and the rest can be used', async () => {
  const home = await scratchFolder('damaged-file');
  await (await openSqliteStore({ home })).close();
  await damage(home, 'goals');
  const store = await openSqliteStore({ home });
  onTestFinished(() => store.close());
  const damaged = {
    name: 'StoreRefused',
    message:
      'The file lastcall.db is damaged (database disk image is malformed): what needs the damaged part fails. ' +
      'Stop the gateway and restore a backup.',
  };
  await expect(store.db.selectFrom('goals').selectAll().execute()).rejects.toMatchObject(damaged);
  const write = store.transaction((tx) => tx.db.deleteFrom('goals').execute());
  await expect(write).rejects.toMatchObject(damaged);
  await store.transaction((tx) => tx.db.insertInto('settings').values({ key: 'a', value: '1' }).execute());
  expect(await store.db.selectFrom('settings').select('value').where('key', '=', 'a').execute()).toEqual([
    { value: '1' },
  ]);
});
