import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { listPending } from '../../src/domain/calls/list-pending.ts';
import { listTurns } from '../../src/domain/conversations/list-turns.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { forEachTest } from '../support/for-all-tests.ts';
import { runStatements } from '../support/run-statements.ts';
import { type Database, databases } from '../support/stores.ts';
import { tablesOf0034 } from './tables-of-0034.ts';

describe.each(databases)('a database of the last version with two tables of calls, on $kind', ({ create }) => {
  const database = forEachTest(create);

  test('has the same tables, columns and indexes as a new one', async () => {
    const fresh = await database.open();
    const wanted = await schemaOf(fresh);
    await fresh.close();
    await becomeOld(database);
    const upgraded = await database.open();
    expect(await schemaOf(upgraded)).toEqual(wanted);
    expect(await sql`select name from kysely_migration`.execute(upgraded.db)).toMatchObject({
      rows: [{ name: '0001-initial' }],
    });
    await upgraded.close();
    // The next start finds nothing to do.
    await (await database.open()).close();
  });

  test('keeps its calls: those that wait can be answered, questions belong to their call, and each knows its thread', async () => {
    await becomeOld(database, [...CONVERSATION, ...CALLS]);
    const store = await database.open();
    const calls = await store.db.selectFrom('calls').selectAll().orderBy('id').execute();
    expect(
      calls.map(({ id, thread_id, agent_id, status, wait_kind, wait_status, during_call }) => [
        ...[id, thread_id, agent_id, status],
        ...[wait_kind, wait_status, during_call],
      ]),
    ).toEqual([
      ['c1', 'talk', 'bot', 'settled', null, null, null],
      ['c2', 'talk', 'bot', 'pending', 'approval', 'pending', null],
      ['q1', 'talk', 'bot', 'settled', 'input', 'cancelled', 'c1'],
    ]);
    const { items } = await listPending(store.db);
    expect(items).toEqual([
      {
        ...{ callId: 'c2', runId: 'r2', agentId: 'bot', toolName: 'pay', kind: 'approval', input: { amount: 2 } },
        ...{ answeredBy: { roles: ['boss'] }, status: 'pending', expiresAt: 9_000, createdAt: 7 },
      },
    ]);
    await store.close();
  });

  test('keeps its turns: a run that answers continued belongs to the turn before it, and one that was not saved to none', async () => {
    await becomeOld(database, CONVERSATION);
    const store = await database.open();
    const turns = await listTurns(store.db, 'talk', { limit: 10 });
    expect(turns.map(({ runIds }) => runIds)).toEqual([['r1'], ['r2', 'r3']]);
    const unsaved = store.db.selectFrom('runs').select('turn_id').where('id', '=', 'r4');
    expect(await unsaved.executeTakeFirstOrThrow()).toEqual({ turn_id: 'r4' });
    await store.close();
  });

  test('is left as it was if the upgrade fails', async () => {
    // The upgrade creates a column of this name.
    await becomeOld(database, ['alter table calls add column answerers text', ...CONVERSATION, ...CALLS]);
    await expect(database.open()).rejects.toThrow(
      'the upgrade from 0034-takeovers-counted-anew failed, and was undone',
    );
    await runStatements(database, ['alter table calls drop column answerers']);
    const store = await database.open();
    expect((await listPending(store.db)).items).toHaveLength(1);
    await store.close();
  });
});

async function becomeOld(database: Database, rows: readonly string[] = []): Promise<void> {
  const empty = database.kind === 'sqlite' ? [] : ['drop schema public cascade', 'create schema public', ASSERT_FOUND];
  if (database.kind === 'sqlite')
    for (const end of ['', '-wal', '-shm']) await rm(join(database.location, `lastcall.db${end}`), { force: true });
  await runStatements(database, [...empty, ...tablesOf0034(database.kind), ...rows]);
}

const ASSERT_FOUND =
  'create function lastcall_assert_found(rows_found bigint) returns bigint language sql as $$ select rows_found $$';

/** Three runs of one conversation, of which the third continues the second, and one that was not saved. */
const CONVERSATION = [
  "insert into threads (id, kind, agent_id) values ('talk', 'context', 'bot')",
  `insert into contexts (id, agent_id, metadata, created_at) values ('talk', 'bot', '{}', 1)`,
  ...['r1', 'r2', 'r3', 'r4'].map(
    (id, index) => `
      insert into runs (id, thread_id, trigger, status, cycle_no, epoch, config_version, created_at, answer)
      values ('${id}', 'talk', '[]', 'completed', ${index + 1}, 1, 1, 1, ${id === 'r4' ? "'{}'" : 'null'})`,
  ),
  ...['r1', 'r2'].map(
    (id, index) => `
      insert into transcript_entries (thread_id, seq, run_id, kind, payload, created_at)
      values ('talk', ${index + 1}, '${id}', 'turn', '{"entry":{"kind":"turn"}}', 1)`,
  ),
];

/** A call that ran and asked a question meanwhile, and one that waits for approval. */
const CALLS = [
  `insert into calls (id, run_id, step, "index", tool_name, input, status, outcome, outcome_status, idempotency_key, created_at, settled_at)
   values ('c1', 'r1', 1, 0, 'look', '{}', 'settled', '{"status":"ok"}', 'ok', 'c1', 5, 6),
     ('c2', 'r2', 1, 0, 'pay', '"{}"', 'pending', null, null, 'c2', 6, null)`,
  `insert into pending_calls (call_id, agent_id, run_id, tool_name, kind, input, answered_by, status, expires_at, created_at, during_call)
   values ('c2', 'bot', 'r2', 'pay', 'approval', '{"amount":2}', '{"roles":["boss"]}', 'pending', 9000, 7, null),
     ('q1', 'bot', 'r1', 'look', 'input', '{}', null, 'cancelled', null, 8, 'c1')`,
];

/** Tables with the names and types of their columns, in any order, and the definitions of indexes. */
async function schemaOf(store: Store): Promise<unknown> {
  const columns =
    store.dialect === 'sqlite'
      ? sql<object>`
          select tables.name as "table", columns.name as "column", columns.type, columns."notnull", columns.pk
          from sqlite_master tables join pragma_table_info(tables.name) columns
          where tables.type = 'table' and tables.name not like 'sqlite%' order by 1, 2`
      : sql<object>`
          select table_name, column_name, data_type, is_nullable, collation_name from information_schema.columns
          where table_schema = 'public' order by 1, 2`;
  const indexes =
    store.dialect === 'sqlite'
      ? sql<{
          definition: string;
        }>`select lower(sql) as definition from sqlite_master where type = 'index' and sql is not null`
      : sql<{ definition: string }>`select indexdef as definition from pg_indexes where schemaname = 'public'`;
  const plain = (text: string): string => text.replaceAll('"', '').replaceAll(/\s+/g, ' ');
  return {
    columns: (await columns.execute(store.db)).rows,
    indexes: (await indexes.execute(store.db)).rows.map(({ definition }) => plain(definition)).sort(),
  };
}
