import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Numbers runs by `number`, and calls a stream a stream. */
export const oneWordEach: Migration = {
  async up(db) {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};

const STATEMENTS: readonly string[] = [
  'alter table runs rename column cycle_no to number',
  'alter table channels rename to streams',
  'drop index channels_by_oldest',
  'create index streams_by_oldest on streams (oldest_at) where oldest_at is not null',
  'alter table stream_events rename column channel to stream',
];
