import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../../dialect.ts';
import { typesOf } from './0001-initial.ts';

/**
 * The index of full-text search. tables.ts explains the columns, decision 0057 the design. Triggers remove a text from the index in the
 * transaction that changes or deletes it, so no erasure and no sweep can forget to.
 */
export function search(dialect: Dialect): Migration {
  return {
    async up(db) {
      const statements = [...tables(dialect), ...(dialect === 'sqlite' ? sqliteTriggers() : postgresTriggers())];
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

function tables(dialect: Dialect): readonly string[] {
  const { text } = typesOf(dialect);
  return [
    `create table search_entries (
    id ${dialect === 'sqlite' ? 'integer' : 'bigint'} primary key,
    kind ${text} not null,
    source_id ${text} not null,
    call_id ${text},
    seq bigint,
    words ${dialect === 'sqlite' ? 'text' : 'tsvector'} not null
  )`,
    'create index search_entries_by_source on search_entries (source_id)',
    `create table search_changes (
    kind ${text} not null,
    source_id ${text} not null,
    constraint search_changes_pk primary key (kind, source_id)
  )`,
    `create table search_spaces (space_id ${text} primary key, seq bigint not null)`,
    `create table search_state (key ${text} primary key, value ${text} not null)`,
    `insert into search_state (key, value) values ('index', '{}')`,
    'create index runs_ended on runs (ended_at, id) where ended_at is not null',
    ...(dialect === 'sqlite' ? SQLITE_INDEX : POSTGRES_INDEX),
  ];
}

/** `secure-delete` removes the words of a deleted entry from the index at once, instead of marking them as deleted. */
const SQLITE_INDEX: readonly string[] = [
  `create virtual table search_words using fts5(
    words, content = 'search_entries', content_rowid = 'id', columnsize = 0, tokenize = "ascii tokenchars '='"
  )`,
  `insert into search_words (search_words, rank) values ('secure-delete', 1)`,
  // Entries are added a few at a time: with the default of 4, most of the time is spent on merging.
  `insert into search_words (search_words, rank) values ('automerge', 8)`,
  `create trigger search_entries_added after insert on search_entries begin
    insert into search_words (rowid, words) values (new.id, new.words);
  end`,
  `create trigger search_entries_removed after delete on search_entries begin
    insert into search_words (search_words, rowid, words) values ('delete', old.id, old.words);
  end`,
];

const POSTGRES_INDEX: readonly string[] = [
  // As in 0047: samples of texts could not be erased.
  'alter table search_entries alter column words set statistics 0',
  'create index search_entries_by_word on search_entries using gin (words) with (gin_pending_list_limit = 1024)',
];

/** False for a call that ends in its run, as most do: the index gets the calls of a run when the run ends. */
const CALL_CHANGED = `(
    new.input is distinct from old.input
    or (new.outcome is distinct from old.outcome and (old.outcome is not null or old.wait_kind is not null))
  )`;
const SPOKEN = `old.kind in ('message', 'reply')`;

function sqliteTriggers(): readonly string[] {
  const changed = (kind: string, id: string): string =>
    `insert or ignore into search_changes (kind, source_id) values ('${kind}', ${id});`;
  const gone = (condition: string): string => `delete from search_entries where ${condition};`;
  return [
    `create trigger messages_unsearched after update of content on messages when new.content is not old.content begin
      ${gone('source_id = old.id')} ${changed('message', 'old.id')} end`,
    `create trigger messages_gone after delete on messages begin ${gone('source_id = old.id')} end`,
    `create trigger calls_unsearched after update of input, outcome on calls when ${CALL_CHANGED} begin
      ${gone('source_id = old.run_id and call_id = old.id')} ${changed('call', 'old.id')} end`,
    `create trigger calls_gone after delete on calls begin ${gone('source_id = old.run_id and call_id = old.id')} end`,
    `create trigger runs_unsearched after update of stop on runs when old.stop is not null and new.stop is not old.stop begin
      ${gone('source_id = old.id')} ${changed('run', 'old.id')} end`,
    `create trigger runs_gone after delete on runs begin ${gone('source_id = old.id')} end`,
    `create trigger entries_unsearched after update of payload on transcript_entries when ${SPOKEN} and new.payload is not old.payload begin
      ${gone('source_id = old.run_id')} ${changed('run', 'old.run_id')} end`,
    `create trigger entries_gone after delete on transcript_entries when ${SPOKEN} begin
      ${gone('source_id = old.run_id and seq = old.seq')} end`,
  ];
}

interface Watched {
  readonly table: string;
  readonly columns: string;
  readonly kind: string;
  /** The id of the source in the row that was changed. */
  readonly source: string;
  /** Which entries are removed. */
  readonly condition: string;
  readonly when: string;
}

const WATCHED: readonly Watched[] = [
  {
    ...{ table: 'messages', columns: 'content', kind: 'message', source: 'old.id' },
    ...{ condition: 'source_id = old.id', when: 'new.content is distinct from old.content' },
  },
  {
    ...{ table: 'calls', columns: 'input, outcome', kind: 'call', source: 'old.id' },
    ...{ condition: 'source_id = old.run_id and call_id = old.id', when: CALL_CHANGED },
  },
  {
    ...{ table: 'runs', columns: 'stop', kind: 'run', source: 'old.id', condition: 'source_id = old.id' },
    when: 'old.stop is not null and new.stop is distinct from old.stop',
  },
  {
    ...{ table: 'transcript_entries', columns: 'payload', kind: 'run', source: 'old.run_id' },
    ...{ condition: 'source_id = old.run_id', when: `${SPOKEN} and new.payload is distinct from old.payload` },
  },
];

/** Rows are deleted many at a time, so that is one call of a function for all of them. */
const GONE: Readonly<Record<string, string>> = {
  messages: 'source_id in (select id from gone)',
  calls: '(source_id, call_id) in (select run_id, id from gone)',
  runs: 'source_id in (select id from gone)',
  transcript_entries: `(source_id, seq) in (select run_id, seq from gone where gone.kind in ('message', 'reply'))`,
};

/** Another transaction may be adding the text of a deleted row, so the deletion is looked at again. */
const QUEUED_WHEN_GONE: Readonly<Record<string, string>> = {
  messages: `insert into search_changes (kind, source_id) select 'message', id from gone on conflict do nothing;`,
  runs: `insert into search_changes (kind, source_id) select 'run', id from gone on conflict do nothing;`,
};

function postgresTriggers(): readonly string[] {
  const changed = WATCHED.flatMap(({ table, columns, kind, source, condition, when }) => [
    `create function lastcall_${table}_unsearched() returns trigger language plpgsql as $$
    begin
      delete from search_entries where ${condition};
      insert into search_changes (kind, source_id) values ('${kind}', ${source}) on conflict do nothing;
      return null;
    end $$`,
    `create trigger ${table}_unsearched after update of ${columns} on ${table} for each row when (${when})
      execute function lastcall_${table}_unsearched()`,
  ]);
  const gone = Object.entries(GONE).flatMap(([table, condition]) => [
    `create function lastcall_${table}_gone() returns trigger language plpgsql as $$
    begin
      delete from search_entries where ${condition};
      ${QUEUED_WHEN_GONE[table] ?? ''}
      return null;
    end $$`,
    `create trigger ${table}_gone after delete on ${table} referencing old table as gone for each statement
      execute function lastcall_${table}_gone()`,
  ]);
  return [...changed, ...gone];
}
