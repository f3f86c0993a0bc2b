import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { findRunnableThreads } from '../../src/runtime/find-runnable-threads.ts';
import { forEachTest } from '../support/for-all-tests.ts';
import { runStatements } from '../support/run-statements.ts';
import { type Database, onPostgres } from '../support/stores.ts';

describe('on PostgreSQL', () => {
  const database = forEachTest(onPostgres.create);

  test('every text is compared byte by byte', async () => {
    const store = await database.open();
    const { rows } = await sql<{ column: string }>`
      select table_name || '.' || column_name as column from information_schema.columns
      where table_schema = current_schema() and table_name not like 'kysely%' and data_type = 'text'
        and collation_name is distinct from 'C'`.execute(store.db);
    expect(rows).toEqual([]);
    await store.close();
  });

  test('[G44] a sweep reads the threads of waiting events and of open runs, and no sleeping ones', async () => {
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
  await runStatements(database, [
    `insert into entities (id, kind, display_name, metadata, created_at) select 'e' || i, 'agent', 'x', '{}', 0 ${each}`,
    `insert into agents (id, entity_id, name, config, config_version, status, tag, created_at, updated_at)
     select 'a' || i, 'e' || i, 'n' || i, '{}', 1, 'active', 't', 0, 0 ${each}`,
    `insert into threads (id, kind, agent_id) select 'a' || i, 'agent', 'a' || i ${each}`,
    `insert into runs (id, thread_id, turn_id, trigger, status, number, epoch, config_version, created_at)
     select 'r' || i, 'a' || i, 'r' || i, '[]', case i when 3 then 'running' else 'completed' end, 1, 1, 1, 1 ${each}`,
    `insert into inbox_events (thread_id, event_id, type, priority, payload, status, available_at, created_at)
     select 'a' || i, 'v' || i, 'message', i - 1, '{}', case when i < 3 then 'pending' else 'done' end, 1, 1 ${each}`,
    'analyze',
  ]);
}
