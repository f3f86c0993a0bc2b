import type { ColumnDefinitionBuilder, CreateTableBuilder, Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../dialect.ts';

type Table = CreateTableBuilder<string, never>;

/** The tables of the first release. */
export function initial(dialect: Dialect): Migration {
  return {
    async up(db: Kysely<unknown>) {
      const table = (name: string): Table => db.schema.createTable(name) as Table;
      for (const create of [people, spaces, threads, runs, pending, transcriptCache, streams, keys]) {
        for (const made of create(table, dialect)) await made.execute();
      }
      for (const [name, on, columns, unique] of INDEXES) {
        const index = db.schema
          .createIndex(name)
          .on(on)
          .columns([...columns]);
        await (unique === true ? index.unique() : index).execute();
      }
    },
  };
}

type Create = (table: (name: string) => Table, dialect: Dialect) => readonly Table[];
type Column = ColumnDefinitionBuilder;

const needed = (column: Column): Column => column.notNull();
const key = (column: Column): Column => column.primaryKey();
const zero = (column: Column): Column => column.notNull().defaultTo(0);

const people: Create = (table) => [
  table('entities')
    .addColumn('id', 'text', key)
    .addColumn('kind', 'text', needed)
    .addColumn('external_id', 'text', (column) => column.unique())
    .addColumn('display_name', 'text', needed)
    .addColumn('metadata', 'text', needed)
    .addColumn('created_at', 'bigint', needed)
    .addColumn('deleted_at', 'bigint') as Table,
  table('agents')
    .addColumn('id', 'text', key)
    .addColumn('entity_id', 'text', (column) => column.notNull().unique().references('entities.id'))
    .addColumn('name', 'text', needed)
    .addColumn('config', 'text', needed)
    .addColumn('config_version', 'bigint', needed)
    .addColumn('status', 'text', needed)
    .addColumn('active_space_id', 'text')
    .addColumn('last_error', 'text')
    .addColumn('tag', 'text', needed)
    .addColumn('created_at', 'bigint', needed)
    .addColumn('updated_at', 'bigint', needed) as Table,
];

const spaces: Create = (table) => [
  table('spaces')
    .addColumn('id', 'text', key)
    .addColumn('name', 'text', needed)
    .addColumn('description', 'text', needed)
    .addColumn('metadata', 'text', needed)
    .addColumn('next_seq', 'bigint', (column) => column.notNull().defaultTo(1))
    .addColumn('hops', 'bigint', zero)
    .addColumn('created_at', 'bigint', needed) as Table,
  table('memberships')
    .addColumn('space_id', 'text', (column) => column.notNull().references('spaces.id'))
    .addColumn('entity_id', 'text', (column) => column.notNull().references('entities.id'))
    .addColumn('role', 'text', needed)
    .addColumn('joined_at', 'bigint', needed)
    .addColumn('left_at', 'bigint')
    .addColumn('last_seen_seq', 'bigint', zero)
    .addPrimaryKeyConstraint('memberships_pk', ['space_id', 'entity_id'] as never) as Table,
  table('messages')
    .addColumn('id', 'text', key)
    .addColumn('space_id', 'text', (column) => column.notNull().references('spaces.id'))
    .addColumn('seq', 'bigint', needed)
    .addColumn('entity_id', 'text', needed)
    .addColumn('kind', 'text', needed)
    .addColumn('content', 'text', needed)
    .addColumn('reply_to', 'text')
    .addColumn('metadata', 'text', needed)
    .addColumn('call_id', 'text')
    .addColumn('client_message_id', 'text')
    .addColumn('status', 'text', needed)
    .addColumn('run_id', 'text')
    .addColumn('created_at', 'bigint', needed)
    .addColumn('updated_at', 'bigint', needed) as Table,
];

const threads: Create = (table, dialect) => [
  table('threads')
    .addColumn('id', 'text', key)
    .addColumn('kind', 'text', needed)
    .addColumn('agent_id', 'text', needed)
    .addColumn('lease_owner', 'text')
    .addColumn('lease_until', 'bigint', zero)
    .addColumn('epoch', 'bigint', zero)
    .addColumn('state', 'text') as Table,
  table('inbox_events')
    .addColumn('id', dialect === 'sqlite' ? 'integer' : 'bigint', (column) => counted(column, dialect))
    .addColumn('agent_id', 'text', needed)
    .addColumn('event_id', 'text', needed)
    .addColumn('type', 'text', needed)
    .addColumn('priority', 'integer', needed)
    .addColumn('payload', 'text', needed)
    .addColumn('status', 'text', needed)
    .addColumn('attempts', 'integer', zero)
    .addColumn('available_at', 'bigint', needed)
    .addColumn('run_id', 'text')
    .addColumn('error', 'text')
    .addColumn('created_at', 'bigint', needed) as Table,
];

/** The order of arrival: a number that the database counts up. */
function counted(column: Column, dialect: Dialect): Column {
  return dialect === 'sqlite'
    ? column.primaryKey().autoIncrement()
    : column.primaryKey().generatedByDefaultAsIdentity();
}

const runs: Create = (table) => [
  table('runs')
    .addColumn('id', 'text', key)
    .addColumn('thread_id', 'text', needed)
    .addColumn('trigger', 'text', needed)
    .addColumn('status', 'text', needed)
    .addColumn('stop', 'text')
    .addColumn('cycle_no', 'bigint', needed)
    .addColumn('usage', 'text')
    .addColumn('epoch', 'bigint', needed)
    .addColumn('config_version', 'bigint', needed)
    .addColumn('attempts', 'integer', zero)
    .addColumn('taken_seq', 'bigint', zero)
    .addColumn('cancel_requested_at', 'bigint')
    .addColumn('active_in', 'text')
    .addColumn('created_at', 'bigint', needed)
    .addColumn('ended_at', 'bigint') as Table,
  table('transcript_entries')
    .addColumn('thread_id', 'text', needed)
    .addColumn('seq', 'bigint', needed)
    .addColumn('run_id', 'text', needed)
    .addColumn('kind', 'text', needed)
    .addColumn('payload', 'text', needed)
    .addColumn('created_at', 'bigint', needed)
    .addPrimaryKeyConstraint('transcript_entries_pk', ['thread_id', 'seq'] as never) as Table,
  table('calls')
    .addColumn('id', 'text', key)
    .addColumn('run_id', 'text', needed)
    .addColumn('step', 'integer', needed)
    .addColumn('index', 'integer', needed)
    .addColumn('tool_name', 'text', needed)
    .addColumn('input', 'text', needed)
    .addColumn('status', 'text', needed)
    .addColumn('outcome', 'text')
    .addColumn('idempotency_key', 'text', needed)
    .addColumn('provider_call_id', 'text')
    .addColumn('created_at', 'bigint', needed)
    .addColumn('settled_at', 'bigint') as Table,
];

const pending: Create = (table) => [
  table('pending_calls')
    .addColumn('call_id', 'text', key)
    .addColumn('agent_id', 'text', needed)
    .addColumn('run_id', 'text', needed)
    .addColumn('space_id', 'text')
    .addColumn('tool_name', 'text', needed)
    .addColumn('kind', 'text', needed)
    .addColumn('input', 'text', needed)
    .addColumn('display', 'text')
    .addColumn('answered_by', 'text')
    .addColumn('result_schema', 'text')
    .addColumn('status', 'text', needed)
    .addColumn('result', 'text')
    .addColumn('result_hash', 'text')
    .addColumn('resolved_by', 'text')
    .addColumn('late_answers', 'text')
    .addColumn('expires_at', 'bigint')
    .addColumn('created_at', 'bigint', needed)
    .addColumn('resolved_at', 'bigint') as Table,
];

const transcriptCache: Create = (table) => [
  table('goals')
    .addColumn('agent_id', 'text', needed)
    .addColumn('key', 'text', needed)
    .addColumn('description', 'text', needed)
    .addColumn('status', 'text', needed)
    .addColumn('priority', 'integer', needed)
    .addColumn('created_at', 'bigint', needed)
    .addColumn('updated_at', 'bigint', needed)
    .addPrimaryKeyConstraint('goals_pk', ['agent_id', 'key'] as never) as Table,
  table('memories')
    .addColumn('agent_id', 'text', needed)
    .addColumn('key', 'text', needed)
    .addColumn('value', 'text', needed)
    .addColumn('created_at', 'bigint', needed)
    .addColumn('updated_at', 'bigint', needed)
    .addPrimaryKeyConstraint('memories_pk', ['agent_id', 'key'] as never) as Table,
  table('plans')
    .addColumn('id', 'text', key)
    .addColumn('agent_id', 'text', needed)
    .addColumn('key', 'text', needed)
    .addColumn('name', 'text', needed)
    .addColumn('instruction', 'text', needed)
    .addColumn('cron', 'text')
    .addColumn('at', 'bigint')
    .addColumn('time_zone', 'text', needed)
    .addColumn('misfire', 'text', needed)
    .addColumn('next_at', 'bigint')
    .addColumn('last_at', 'bigint')
    .addColumn('created_at', 'bigint', needed)
    .addColumn('updated_at', 'bigint', needed) as Table,
  table('tools')
    .addColumn('id', 'text', key)
    .addColumn('name', 'text', (column) => column.notNull().unique())
    .addColumn('config', 'text', needed)
    .addColumn('version', 'bigint', needed)
    .addColumn('created_at', 'bigint', needed)
    .addColumn('updated_at', 'bigint', needed) as Table,
];

const streams: Create = (table) => [
  table('channels')
    .addColumn('id', 'text', key)
    .addColumn('next_seq', 'bigint', needed)
    .addColumn('swept_seq', 'bigint', zero) as Table,
  table('stream_events')
    .addColumn('channel', 'text', needed)
    .addColumn('seq', 'bigint', needed)
    .addColumn('type', 'text', needed)
    .addColumn('payload', 'text', needed)
    .addColumn('created_at', 'bigint', needed)
    .addPrimaryKeyConstraint('stream_events_pk', ['channel', 'seq'] as never) as Table,
];

const keys: Create = (table) => [
  table('api_keys')
    .addColumn('id', 'text', key)
    .addColumn('name', 'text', needed)
    .addColumn('kind', 'text', needed)
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('prefix', 'text', needed)
    .addColumn('scopes', 'text', needed)
    .addColumn('created_at', 'bigint', needed)
    .addColumn('revoked_at', 'bigint') as Table,
  table('settings').addColumn('key', 'text', key).addColumn('value', 'text', needed) as Table,
];

type Index = readonly [name: string, table: string, columns: readonly string[], unique?: true];

const INDEXES: readonly Index[] = [
  ['memberships_by_entity', 'memberships', ['entity_id']],
  ['messages_by_seq', 'messages', ['space_id', 'seq'], true],
  ['messages_by_client_id', 'messages', ['space_id', 'entity_id', 'client_message_id'], true],
  ['messages_by_call', 'messages', ['call_id'], true],
  ['threads_by_agent', 'threads', ['agent_id']],
  ['threads_by_lease', 'threads', ['lease_owner', 'lease_until']],
  ['inbox_by_event', 'inbox_events', ['agent_id', 'event_id'], true],
  ['inbox_waiting', 'inbox_events', ['agent_id', 'status', 'priority', 'id']],
  ['inbox_due', 'inbox_events', ['status', 'available_at']],
  ['inbox_by_run', 'inbox_events', ['run_id']],
  ['runs_by_thread', 'runs', ['thread_id', 'cycle_no'], true],
  ['runs_by_status', 'runs', ['status', 'thread_id']],
  ['entries_by_run', 'transcript_entries', ['run_id', 'seq']],
  ['calls_by_run', 'calls', ['run_id', 'step', 'index']],
  ['pending_by_agent', 'pending_calls', ['agent_id', 'status']],
  ['pending_due', 'pending_calls', ['status', 'expires_at']],
  ['pending_by_space', 'pending_calls', ['space_id', 'status']],
  ['plans_by_key', 'plans', ['agent_id', 'key'], true],
  ['plans_due', 'plans', ['next_at']],
  ['stream_events_by_time', 'stream_events', ['created_at']],
];
