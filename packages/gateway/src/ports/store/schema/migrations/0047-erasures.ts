import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../../dialect.ts';
import { typesOf } from './0001-initial.ts';

/** Erasures of people, spaces, conversations and agents. tables.ts explains the columns. */
export function erasures(dialect: Dialect): Migration {
  const { text } = typesOf(dialect);
  return {
    async up(db) {
      const statements = [
        'alter table spaces add column deleted_at bigint',
        `create table erasures (
    id ${text} primary key,
    project_id ${text} not null,
    kind ${text} not null,
    subject_id ${text} not null,
    status ${text} not null,
    phase ${text} not null,
    cursor ${text},
    replaced bigint not null,
    error ${text},
    owner ${text},
    owned_until bigint not null,
    created_at bigint not null,
    done_at bigint
  )`,
        `create index erasures_open on erasures (created_at) where status = 'running'`,
        `create table erasure_runs (
    erasure_id ${text} not null,
    thread_id ${text} not null,
    run_id ${text} not null,
    constraint erasure_runs_pk primary key (erasure_id, thread_id, run_id)
  )`,
        `create table erasure_prints (
    erasure_id ${text} not null,
    part ${text} not null,
    prints ${text} not null,
    constraint erasure_prints_pk primary key (erasure_id, part)
  )`,
        ...(dialect === 'postgres' ? withoutStatistics() : []),
      ];
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

/**
 * ANALYZE copies values of a column into the statistics of the planner, from where no erasure could remove them. These columns are never
 * searched, so they need no statistics. Setting the type drops those that were taken before, and rewrites nothing.
 */
function withoutStatistics(): readonly string[] {
  return Object.entries(TEXTS).flatMap(([table, columns]) =>
    columns.flatMap((column) => [
      `alter table ${table} alter column "${column}" type text collate "C"`,
      `alter table ${table} alter column "${column}" set statistics 0`,
    ]),
  );
}

const TEXTS: Readonly<Record<string, readonly string[]>> = {
  agent_failures: ['text'],
  agents: ['last_error'],
  calls: ['input', 'outcome', 'display', 'answer', 'late_answers', 'resume_state', 'claimed_by'],
  contexts: ['metadata'],
  entities: ['display_name', 'metadata'],
  file_undo: ['content', 'changed_by'],
  files: ['content', 'changed_by'],
  goals: ['description'],
  inbox_events: ['payload', 'error'],
  memories: ['value'],
  messages: ['content', 'metadata', 'call'],
  plans: ['name', 'instruction'],
  request_texts: ['text'],
  runs: ['trigger', 'stop', 'answer', 'settings', 'takeovers'],
  spaces: ['name', 'description', 'metadata'],
  stream_events: ['payload'],
  sub_agent_turns: ['steps'],
  threads: ['state'],
  transcript_entries: ['payload'],
};
