import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { databases } from '../support/stores.ts';

const postgres = databases.filter(({ kind }) => kind === 'postgres');

test.each(postgres)(
  '[G43] the error of a transaction that conflicts at every attempt says that it may be retried later',
  async ({ create }) => {
    const database = await create();
    const store = await database.open();
    let tries = 0;
    const always = store.transaction(async (tx) => {
      tries += 1;
      await sql`do $$ begin raise exception 'in the way' using errcode = '40P01'; end $$`.execute(tx.db);
    });
    await expect(always).rejects.toMatchObject({ name: 'StoreUnavailable', inDoubt: false });
    expect(tries).toBeGreaterThan(1);
    await store.close();
    await database.remove();
  },
);
