import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** What cards and runs tell people: who may answer and who did, how calls ended, which attempt a run is, who took it over. */
export const factsForPeople: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('messages').addColumn('call', 'text').execute();
    await db.schema.alterTable('calls').addColumn('outcome_status', 'text').execute();
    // Every stored outcome begins with its status.
    for (const status of ['ok', 'error', 'cancelled', 'skipped', 'pending'])
      await sql`update calls set outcome_status = ${status} where outcome like ${`{"status":"${status}"%`}`.execute(db);
    await db.schema
      .alterTable('runs')
      .addColumn('attempt', 'integer', (column) => column.notNull().defaultTo(1))
      .execute();
    await db.schema.alterTable('runs').addColumn('retry_of', 'text').execute();
    await db.schema.alterTable('runs').addColumn('owner', 'text').execute();
    await db.schema.alterTable('runs').addColumn('takeovers', 'text').execute();
  },
};
