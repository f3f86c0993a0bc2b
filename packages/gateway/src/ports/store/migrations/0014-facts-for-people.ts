import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Facts that cards and runs show to people: who may answer and who did, how calls ended, the attempt number of a run,
 * who took it over, and an agent's earlier configurations.
 */
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
    await db.schema
      .createTable('agent_versions')
      .addColumn('agent_id', 'text', (column) => column.notNull())
      .addColumn('version', 'integer', (column) => column.notNull())
      .addColumn('config', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('agent_versions_pk', ['agent_id', 'version'])
      .execute();
    await sql`insert into agent_versions (agent_id, version, config, created_at)
      select id, config_version, config, updated_at from agents`.execute(db);
  },
};
