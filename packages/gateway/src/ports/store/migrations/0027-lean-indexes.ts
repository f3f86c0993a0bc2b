import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Fewer and smaller indexes. Most messages have no client id and no call. The sweep finds due events by the index of
 * waiting events, and expired leases by the open runs. It looks for channels with old stream events instead of for the
 * events. Without an index on the holder of a thread, PostgreSQL claims and releases it without writing to the other
 * indexes.
 */
export const leanIndexes: Migration = {
  async up(db: Kysely<unknown>) {
    for (const name of DROPPED) await db.schema.dropIndex(name).execute();
    await sql`
      create unique index messages_by_client_id on messages (space_id, entity_id, client_message_id)
      where client_message_id is not null`.execute(db);
    await sql`create unique index messages_by_call on messages (call_id) where call_id is not null`.execute(db);
    // The default 0 makes the sweep look at the channel, because a gateway of an earlier version does not set this
    // column.
    await sql`alter table channels add column oldest_at bigint default 0`.execute(db);
    await sql`
      update channels set oldest_at =
        (select created_at from stream_events where channel = channels.id order by seq limit 1)`.execute(db);
    await sql`create index channels_by_oldest on channels (oldest_at) where oldest_at is not null`.execute(db);
  },
};

const DROPPED = ['messages_by_client_id', 'messages_by_call', 'inbox_due', 'threads_held', 'stream_events_by_time'];
