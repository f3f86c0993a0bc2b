import { type Kysely, sql } from 'kysely';
import { DEFAULT_MIGRATION_TABLE } from 'kysely/migration';
import type { Dialect } from '../../dialect.ts';
import { typesOf, WAIT_INDEXES, waitColumns } from './0001-initial.ts';

/** The newest migration that a database has whose calls are stored in two tables. */
export const LAST_OF_TWO_TABLES = '0034-takeovers-counted-anew';

/**
 * The migration that does nothing but be in the list: versions that know the two tables do not know it, and so they refuse a database
 * with the tables of today.
 */
export const ONE_TABLE = '0035-one-table-of-calls';

/**
 * Brings a database of the versions with twenty-six migrations to the tables that 0001-initial creates today, in one transaction: calls
 * that wait move into their calls, runs get the turn that they belong to, and inbox events name their thread as all other rows do. The
 * list of executed migrations is then that of a new database. Gateways of an older version must not run meanwhile.
 */
export async function upgradeFrom0034(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  for (const statement of statements(typesOf(dialect).text)) await sql.raw(statement).execute(db);
  // Every write names these columns. A gateway of an older version, which does not, gets an error instead of writing half a row.
  if (dialect === 'postgres') for (const statement of WITHOUT_DEFAULTS) await sql.raw(statement).execute(db);
  const executed = sql.table(DEFAULT_MIGRATION_TABLE);
  await sql`update ${executed} set name = ${ONE_TABLE} where name = ${LAST_OF_TWO_TABLES}`.execute(db);
  await sql`delete from ${executed} where name not in ('0001-initial', ${ONE_TABLE})`.execute(db);
}

function statements(text: string): readonly string[] {
  const added = (column: string): string => `alter table calls add column ${column}`;
  return [
    'alter table inbox_events rename column agent_id to thread_id',
    `alter table runs add column turn_id ${text} not null default ''`,
    TURNS,
    // SQLite adds one column at a time, and a column that must have a value only with a default.
    ...[`thread_id ${text} not null default ''`, `agent_id ${text} not null default ''`].map(added),
    ...[`during_call ${text}`, ...waitColumns(text)].map(added),
    THREADS,
    QUESTIONS,
    WAITS,
    'drop table pending_calls',
    ...WAIT_INDEXES,
  ];
}

const WITHOUT_DEFAULTS: readonly string[] = [
  'alter table runs alter column turn_id drop default',
  'alter table calls alter column thread_id drop default, alter column agent_id drop default',
];

/**
 * A run that has no entry of a turn continues the turn before it. A run that was not saved belongs to no turn but its own. Each run is read
 * once: an agent has tens of thousands of runs, and a search from each of them for the turn before it takes minutes.
 */
const TURNS = `
  update runs set turn_id = case when answer is not null then id else coalesce((
    select beginning.id from runs beginning
    where beginning.thread_id = runs.thread_id and beginning.cycle_no = turns.begun
  ), id) end
  from (
    select saved.id as run_id, max(case when saved.answer is null and exists (
        select 1 from transcript_entries where transcript_entries.run_id = saved.id and kind = 'turn'
      ) then saved.cycle_no end) over (partition by saved.thread_id order by saved.cycle_no) as begun
    from runs saved
  ) as turns where turns.run_id = runs.id`;

const THREADS = `
  update calls set thread_id = threads.id, agent_id = threads.agent_id
  from runs join threads on threads.id = runs.thread_id where runs.id = calls.run_id`;

/** Questions that tools asked during their calls, and calls that waited in runs that were not saved. */
const QUESTIONS = `
  insert into calls (id, thread_id, agent_id, run_id, step, "index", tool_name, input, status, idempotency_key, created_at, settled_at,
    during_call)
  select call_id, coalesce((select thread_id from runs where runs.id = pending_calls.run_id), agent_id), agent_id, run_id, 0, 0,
    tool_name, input, case status when 'pending' then 'pending' else 'settled' end, call_id, created_at, resolved_at, during_call
  from pending_calls where not exists (select 1 from calls where calls.id = pending_calls.call_id)`;

/** Only jobs are offered and claimed. An approval that was offered too becomes a job when it is given. */
const ofJob = (column: string, otherwise = 'null'): string =>
  `${column} = case waits.kind when 'result' then waits.${column} else ${otherwise} end`;

const WAITS = `
  update calls set input = waits.input, wait_kind = waits.kind, wait_status = waits.status, waiting_since = waits.created_at,
    space_id = waits.space_id, display = waits.display, answerers = waits.answered_by, answer_schema = waits.result_schema,
    expires_at = waits.expires_at, answer = waits.result, answer_hash = waits.result_hash, answered_by = waits.resolved_by,
    answered_at = waits.resolved_at, late_answers = waits.late_answers, rounds = waits.rounds, resume_state = waits.resume_state,
    asked_definition = waits.asked_definition, ${ofJob('offered_at')}, ${ofJob('offers', '0')}, ${ofJob('claims', '0')},
    ${ofJob('claim_hash')}, ${ofJob('claimed_by')}, ${ofJob('claim_ms')}, ${ofJob('claimed_until')}, ${ofJob('announce_at')},
    ${ofJob('announce_attempts', '0')}
  from pending_calls waits where waits.call_id = calls.id`;
