import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { Client } from 'pg';
import { describe, expect, test } from 'vitest';
import { DEFAULT_GATEWAY_LIMITS } from '../../src/config/limits.ts';
import { sweepStreams } from '../../src/domain/streams/sweep-streams.ts';
import { findRunnableThreads } from '../../src/runtime/find-runnable-threads.ts';
import { forEachTest } from '../support/for-all-tests.ts';
import { type Database, databases, onPostgres } from '../support/stores.ts';
import { openWorld } from '../support/world.ts';

describe.each(databases)('a filled database of an earlier version on $kind', ({ create }) => {
  const database = forEachTest(create);

  test('the migration of indexes keeps messages and streams, and finds out which channels have old events', async () => {
    const world = await openWorld({ database });
    const { store } = world;
    await store.transaction(async ({ db }) => {
      const event = { type: 'x', payload: '{}', revocations: 0 };
      await db
        .insertInto('channels')
        .values([
          { id: 'old', next_seq: 3, swept_seq: 0, oldest_at: null },
          { id: 'new', next_seq: 2, swept_seq: 0, oldest_at: null },
        ])
        .execute();
      await db
        .insertInto('stream_events')
        .values([
          { ...event, channel: 'old', seq: 1, created_at: 5 },
          { ...event, channel: 'old', seq: 2, created_at: Date.now() },
          { ...event, channel: 'new', seq: 1, created_at: Date.now() },
        ])
        .execute();
    });
    await world.stop();
    await run(database, UNDO);
    const reopened = await database.open();
    expect(await sweepStreams({ store: reopened, limits: DEFAULT_GATEWAY_LIMITS })).toBe(1);
    const left = reopened.db.selectFrom('stream_events').select(['channel', 'seq']).orderBy('channel').orderBy('seq');
    expect(await left.execute()).toEqual([
      { channel: 'new', seq: 1 },
      { channel: 'old', seq: 2 },
    ]);
    const { oldest_at } = await reopened.db
      .selectFrom('channels')
      .select('oldest_at')
      .where('id', '=', 'old')
      .executeTakeFirstOrThrow();
    expect(oldest_at).toBeGreaterThan(5);
    // A gateway of the version before, which still runs.
    await reopened.transaction(async ({ db }) => {
      await db.insertInto('channels').values({ id: 'other', next_seq: 2, swept_seq: 0 }).execute();
      const event = { channel: 'other', seq: 1, type: 'x', payload: '{}', created_at: 5, revocations: 0 };
      await db.insertInto('stream_events').values(event).execute();
    });
    expect(await sweepStreams({ store: reopened, limits: DEFAULT_GATEWAY_LIMITS })).toBe(1);
    await reopened.close();
  });
});

/** As the version before left its tables. */
const UNDO = [
  'alter table pending_calls drop column asked_definition',
  'drop index channels_by_oldest',
  'alter table channels drop column oldest_at',
  'create index stream_events_by_time on stream_events (created_at)',
  'create index threads_held on threads (lease_owner) where lease_owner is not null',
  "create index inbox_due on inbox_events (available_at) where status = 'pending'",
  "delete from kysely_migration where name >= '0026'",
];

const WITH_COLLATION_OF_DATABASE = `
  do $$ declare found record; begin
    for found in
      select table_name, column_name from information_schema.columns
      where table_schema = current_schema() and collation_name = 'C' and data_type = 'text'
    loop
      execute format('alter table %I alter column %I type text collate "default"', found.table_name, found.column_name);
    end loop;
  end $$`;

async function run({ kind, location }: Database, statements: readonly string[]): Promise<void> {
  if (kind === 'sqlite') {
    using database = new DatabaseSync(join(location, 'lastcall.db'));
    for (const statement of statements) database.exec(statement);
    return;
  }
  const client = new Client({ connectionString: location });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

describe('on PostgreSQL', () => {
  const database = forEachTest(onPostgres.create);

  test('every text is compared byte by byte, also in a database of an earlier version', async () => {
    await fill(database);
    await run(database, [WITH_COLLATION_OF_DATABASE, ...UNDO]);
    const store = await database.open();
    const { rows } = await sql<{ column: string }>`
      select table_name || '.' || column_name as column from information_schema.columns
      where table_schema = current_schema() and table_name not like 'kysely%' and data_type = 'text'
        and collation_name is distinct from 'C'`.execute(store.db);
    expect(rows).toEqual([]);
    await store.close();
  });

  test('[G44] a sweep reads the threads of waiting events and of open runs, and none of those that sleep', async () => {
    const store = await database.open();
    await fill(database);
    let read: readonly { relname: string; count: number }[] = [];
    const counting: typeof store = {
      ...store,
      transaction: (work) =>
        store.transaction(async (tx) => {
          const found = await work(tx);
          const counts = sql<{ relname: string; count: number }>`
            select relname, (seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint as count
            from pg_stat_xact_user_tables where relname in ('threads', 'agents', 'runs') order by relname`;
          read = (await counts.execute(tx.db)).rows;
          return found;
        }),
    };
    const found = await findRunnableThreads(counting);
    expect(found.map(({ threadId, isUrgent }) => `${threadId} ${isUrgent}`).sort()).toEqual([
      'a1 true',
      'a2 false',
      'a3 false',
    ]);
    for (const { count } of read) expect(count).toBeLessThan(20);
    expect(read).toHaveLength(3);
    await store.close();
  });
});

/** Two thousand agents that sleep, counted by PostgreSQL as it does after a while, of which two have events that wait, and one has an open run. */
async function fill(database: Database): Promise<void> {
  const each = 'from generate_series(1, 2000) as i';
  await run(database, [
    `insert into entities (id, kind, display_name, metadata, created_at) select 'e' || i, 'agent', 'x', '{}', 0 ${each}`,
    `insert into agents (id, entity_id, name, config, config_version, status, tag, created_at, updated_at)
     select 'a' || i, 'e' || i, 'n' || i, '{}', 1, 'active', 't', 0, 0 ${each}`,
    `insert into threads (id, kind, agent_id) select 'a' || i, 'agent', 'a' || i ${each}`,
    `insert into runs (id, thread_id, trigger, status, cycle_no, epoch, config_version, created_at)
     select 'r' || i, 'a' || i, '[]', case i when 3 then 'running' else 'completed' end, 1, 1, 1, 1 ${each}`,
    `insert into inbox_events (agent_id, event_id, type, priority, payload, status, available_at, created_at)
     select 'a' || i, 'v' || i, 'message', i - 1, '{}', case when i < 3 then 'pending' else 'done' end, 1, 1 ${each}`,
    'analyze',
  ]);
}
