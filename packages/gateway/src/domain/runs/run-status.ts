import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { RunStatus, Tables } from '../../ports/store/schema/tables.ts';
import { IS_PENDING } from '../calls/is-waiting.ts';

/** How a run stands, in one word. `queued` and `waiting` are not stored: they follow from the inbox and from the run's calls. */
export type ShownStatus = RunStatus | 'waiting' | 'queued';

/** The statuses that runs are listed by. A queued run has no row. */
export type ListedStatus = Exclude<ShownStatus, 'queued'>;

/** A run that took one of several answers and stopped again: it waits with the earlier run of its turn that has the other calls. */
const STOPPED_AGAIN: RawBuilder<SqlBool> = sql<SqlBool>`substr(runs.stop, 1, 21) = '{"reason":"suspended"'`;

/** The calls that wait, which are few. */
const WAITING: RawBuilder<unknown> = sql`from calls where ${IS_PENDING} and calls.during_call is null`;
/** The same, with the runs that made them. */
const ASKING: RawBuilder<unknown> = sql`
  from calls inner join runs as asking on asking.id = calls.run_id where ${IS_PENDING} and calls.during_call is null`;

/** True for a run that has a call that waits for an answer. For few runs: for each of them its thread's calls are looked up. */
const HAS_WAITING_CALL: RawBuilder<SqlBool> = sql<SqlBool>`(
  exists (select 1 ${WAITING} and calls.thread_id = runs.thread_id and calls.run_id = runs.id)
  or (${STOPPED_AGAIN} and exists (
    select 1 ${ASKING} and calls.thread_id = runs.thread_id and asking.turn_id = runs.turn_id)))`;

/** The same for many runs: all calls that wait are read once. */
const IS_AMONG_WAITING: RawBuilder<SqlBool> = sql<SqlBool>`(
  runs.id in (select calls.run_id ${WAITING}) or (${STOPPED_AGAIN} and runs.turn_id in (select asking.turn_id ${ASKING})))`;

/** The status of a row of `runs`: a completed run whose calls wait is waiting. */
export const SHOWN_STATUS: RawBuilder<ListedStatus> = sql<ListedStatus>`case
  when runs.status = 'completed' and ${HAS_WAITING_CALL} then 'waiting' else runs.status end`;

/** A condition on `runs`. Waiting runs are found by the calls that wait. */
export function hasStatus(status: ListedStatus): RawBuilder<SqlBool> {
  if (status === 'waiting')
    return sql<SqlBool>`runs.status = 'completed' and runs.thread_id in (select calls.thread_id ${WAITING})
      and ${IS_AMONG_WAITING}`;
  // Most runs are completed. With the index of statuses, SQLite would sort them all to find the newest.
  if (status === 'completed') return sql<SqlBool>`coalesce(runs.status, '') = 'completed' and not ${IS_AMONG_WAITING}`;
  return sql<SqlBool>`runs.status = ${status}`;
}

/** True if a call that the run made waits for an answer. */
export async function runWaits(db: Kysely<Tables>, runId: string): Promise<boolean> {
  const calls = db.selectFrom('calls').select('id').where('run_id', '=', runId).where('during_call', 'is', null);
  return (await calls.where(IS_PENDING).limit(1).executeTakeFirst()) !== undefined;
}
