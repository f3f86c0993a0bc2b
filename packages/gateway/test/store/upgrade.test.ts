import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { listOpenJobs } from '../../src/domain/calls/list-open-jobs.ts';
import { listWaiting } from '../../src/domain/calls/list-waiting.ts';
import { listTurns } from '../../src/domain/conversations/list-turns.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { forEachTest } from '../support/for-all-tests.ts';
import { runStatements } from '../support/run-statements.ts';
import { type Database, databases, onSqlite } from '../support/stores.ts';
import { tablesOf0034 } from './tables-of-0034.ts';

describe.each(databases)('a database of the last version with two tables of calls, on $kind', ({ create }) => {
  const database = forEachTest(create);

  test('has the same tables, columns and indexes as a new one', async () => {
    const fresh = await database.open();
    const wanted = await schemaOf(fresh);
    const newList = await migrationsOf(fresh);
    await fresh.close();
    await becomeOld(database);
    const upgraded = await database.open();
    expect(await schemaOf(upgraded)).toEqual(wanted);
    expect(await migrationsOf(upgraded)).toEqual(newList);
    await upgraded.close();
    // The next start finds nothing to do.
    await (await database.open()).close();
  });

  test('is refused by earlier versions, as is a new one: they find unknown migrations in the list', async () => {
    const fresh = await database.open();
    const known = Array.from({ length: 34 }, (_, index) => `${String(index + 1).padStart(4, '0')}-`);
    expect((await migrationsOf(fresh)).filter((name) => !known.some((number) => name.startsWith(number)))).toEqual([
      '0035-one-table-of-calls',
      '0036-frames-without-tags',
      '0037-one-word-each',
      '0038-modes',
      '0039-sub-agent-turns',
      '0040-files',
      '0041-space-numbers',
      '0042-usage',
      '0043-plan-setters',
      '0044-projects',
      '0045-call-nodes',
      '0046-audit',
      '0047-erasures',
      '0049-notifications',
      '0050-grants',
      '0051-attachments',
      '0052-forks',
      '0053-files-of-conversations',
      '0054-evaluations',
      '0055-call-statuses',
      '0056-search',
      '0057-archived-spaces',
      '0058-tools-of-sub-agents',
      '0059-reasoning-tokens',
      '0060-ended-waits',
      '0061-calls-by-tool',
    ]);
    await fresh.close();
  });

  test('[S22] gives its calls the statuses of this version', async () => {
    await becomeOld(database, [...CONVERSATION, ...ENDED_CALLS]);
    const store = await database.open();
    const calls = await store.db.selectFrom('calls').select(['id', 'outcome_status']).orderBy('id').execute();
    expect(Object.fromEntries(calls.map(({ id, outcome_status }) => [id, outcome_status]))).toEqual({
      ...{ c1: 'ok', c2: 'denied', c3: 'expired', c4: 'unknown', c5: 'unknown', c6: 'error', c7: 'waiting' },
      ...{ c8: 'denied', c9: null },
    });
    await store.close();
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
    const { items } = await listWaiting(store.db);
    expect(items).toEqual([
      {
        ...{ callId: 'c2', runId: 'r2', agentId: 'bot', toolName: 'pay', kind: 'approval', input: { amount: 2 } },
        ...{ answeredBy: { roles: ['boss'] }, status: 'pending', expiresAt: 9_000, createdAt: 7, mayGrant: false },
      },
    ]);
    await store.close();
  });

  test('keeps what workers have claimed, and offers them no call that waits for approval', async () => {
    await becomeOld(database, [...CONVERSATION, ...JOBS]);
    const store = await database.open();
    const { offers, claims, claimed_by, announce_at } = await store.db
      .selectFrom('calls')
      .selectAll()
      .where('id', '=', 'job')
      .executeTakeFirstOrThrow();
    expect({ offers, claims, claimed_by, announce_at }).toEqual({
      ...{ offers: 2, claims: 1, claimed_by: 'worker', announce_at: 40 },
    });
    expect((await listOpenJobs(store.db, 'bot', 1_000)).map(({ callId }) => callId)).toEqual(['job']);
    const approval = store.db.selectFrom('calls').select(['offered_at', 'offers', 'announce_at']);
    expect(await approval.where('id', '=', 'approval').executeTakeFirstOrThrow()).toEqual({
      ...{ offered_at: null, offers: 0, announce_at: null },
    });
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

  test('[K7] numbers the spaces of each member in the order in which they were joined', async () => {
    await becomeOld(database, [
      ...['ada', 'bot'].map(
        (id) =>
          `insert into entities (id, kind, display_name, metadata, created_at) values ('${id}', 'human', 'A', '{}', 1)`,
      ),
      ...['a', 'b', 'c'].map(
        (id) => `insert into spaces (id, name, description, metadata, created_at) values ('${id}', 'S', '', '{}', 1)`,
      ),
      ...[
        ['c', 'bot', 1],
        ['a', 'bot', 2],
        ['b', 'bot', 2],
        ['b', 'ada', 5],
      ].map(
        ([space, entity, at]) =>
          `insert into memberships (space_id, entity_id, role, joined_at) values ('${space}', '${entity}', 'member', ${at})`,
      ),
    ]);
    const store = await database.open();
    const members = await store.db.selectFrom('memberships').selectAll().orderBy('number').execute();
    const numbersOf = (entity: string) =>
      members.filter(({ entity_id }) => entity_id === entity).map(({ space_id, number }) => `${space_id} ${number}`);
    expect(numbersOf('bot')).toEqual(['c 1', 'a 2', 'b 3']);
    expect(numbersOf('ada')).toEqual(['b 1']);
    const counts = await store.db.selectFrom('entities').select(['id', 'spaces_joined']).orderBy('id').execute();
    expect(counts).toEqual([
      { id: 'ada', spaces_joined: 1 },
      { id: 'bot', spaces_joined: 3 },
    ]);
    await store.close();
  });

  test('knows the tools that its sub-agents name', async () => {
    const subAgent = { name: 'helper', execution: { agentConfig: { tools: ['clock', 'weather'] } } };
    const config = JSON.stringify({ name: 'Bot', tools: ['clock', subAgent] });
    const rows = [
      "insert into entities (id, kind, display_name, metadata, created_at) values ('bot', 'agent', 'Bot', '{}', 1)",
      `insert into agents (id, entity_id, name, config, config_version, status, tag, created_at, updated_at)
       values ('bot', 'bot', 'Bot', '${config}', 1, 'active', 't', 1, 1)`,
      "insert into agent_tools (agent_id, reference) values ('bot', 'clock')",
    ];
    await becomeOld(database, rows);
    const store = await database.open();
    const uses = store.db.selectFrom('agent_tools').selectAll().orderBy('reference');
    expect(await uses.execute()).toEqual(['clock', 'weather'].map((reference) => ({ agent_id: 'bot', reference })));
    await store.close();
  });

  test('is unchanged if the upgrade fails', async () => {
    // The upgrade creates a column of this name.
    await becomeOld(database, ['alter table calls add column answerers text', ...CONVERSATION, ...CALLS]);
    await expect(database.open()).rejects.toThrow(
      'the upgrade from 0034-takeovers-counted-anew failed, and was undone',
    );
    await runStatements(database, ['alter table calls drop column answerers']);
    const store = await database.open();
    expect((await listWaiting(store.db)).items).toHaveLength(1);
    await store.close();
  });
});

test('an upgrade from two tables of calls does not search all earlier runs of an agent for the turn of each run', async () => {
  const database = await onSqlite.create();
  await becomeOld(database);
  const { prepare } = DatabaseSync.prototype;
  const plans: string[] = [];
  DatabaseSync.prototype.prepare = function (text) {
    if (text.includes('set turn_id'))
      plans.push(
        ...prepare
          .call(this, `explain query plan ${text}`)
          .all()
          .map(({ detail }) => String(detail)),
      );
    return prepare.call(this, text);
  };
  try {
    await (await database.open()).close();
  } finally {
    DatabaseSync.prototype.prepare = prepare;
    await database.remove();
  }
  // An agent has tens of thousands of runs: with a range of numbers, the upgrade took minutes.
  expect(plans).toContainEqual(expect.stringContaining('runs_by_thread (thread_id=? AND cycle_no=?)'));
  expect(plans.filter((plan) => plan.includes('cycle_no<'))).toEqual([]);
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

/** One call for each way to end, one that waits, one that was just denied, and one that was just approved. */
const ENDED_CALLS = [
  ...[
    ['c1', 'ok', '{"status":"ok","value":1,"text":"1"}'],
    ...['denied', 'expired', 'unknown_outcome', 'timeout', 'execution'].map((code, index) => [
      ...[`c${index + 2}`, 'error'],
      `{"status":"error","code":"${code}","message":"m","text":"t"${code === 'timeout' ? ',"effect":"possible"' : ''}}`,
    ]),
    ...['c7', 'c8', 'c9'].map((id) => [id, 'pending', '{"status":"pending","kind":"approval","text":"t"}']),
  ].map(
    ([id, status, outcome], index) =>
      `insert into calls (id, run_id, step, "index", tool_name, input, status, outcome, outcome_status, idempotency_key, created_at)
       values ('${id}', 'r1', 1, ${index}, 'pay', '{}', '${status === 'pending' ? 'pending' : 'settled'}', '${outcome}', '${status}', '${id}', 5)`,
  ),
  `insert into pending_calls (call_id, agent_id, run_id, tool_name, kind, input, status, result, created_at)
   values ('c7', 'bot', 'r1', 'pay', 'approval', '{}', 'pending', null, 7),
     ('c8', 'bot', 'r1', 'pay', 'approval', '{}', 'resolved', '{"deny":"no"}', 7),
     ('c9', 'bot', 'r1', 'pay', 'approval', '{}', 'resolved', '{"approve":true}', 7)`,
];

/** A call of a worker, and one of a worker that waits for approval, which versions with two tables offered at once. */
const JOBS = [
  `insert into calls (id, run_id, step, "index", tool_name, input, status, idempotency_key, created_at)
   values ('job', 'r1', 1, 0, 'print', '{}', 'pending', 'job', 5), ('approval', 'r2', 1, 0, 'print', '{}', 'pending', 'approval', 6)`,
  `insert into pending_calls (call_id, agent_id, run_id, tool_name, kind, input, status, created_at, offered_at, offers, claims,
     claimed_by, claimed_until, announce_at)
   values ('job', 'bot', 'r1', 'print', 'result', '{}', 'pending', 7, 10, 2, 1, 'worker', 20, 40),
     ('approval', 'bot', 'r2', 'print', 'approval', '{}', 'pending', 7, 10, 1, 0, null, null, 40)`,
];

async function migrationsOf(store: Store): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(store.db);
  return rows.map(({ name }) => name);
}

/** Tables with the names and types of their columns, in any order, and the definitions of indexes. */
async function schemaOf(store: Store): Promise<unknown> {
  const columns =
    store.dialect === 'sqlite'
      ? sql<object>`
          select tables.name as "table", columns.name as "column", columns.type, columns."notnull", columns.pk
          from sqlite_master tables join pragma_table_info(tables.name) columns
          where tables.type = 'table' and tables.name not like 'sqlite%' order by 1, 2`
      : sql<object>`
          select table_name, column_name, data_type, is_nullable, column_default, collation_name from information_schema.columns
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
