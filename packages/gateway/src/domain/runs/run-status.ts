import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { RunStatus, Tables } from '../../ports/store/schema/tables.ts';
import { IS_PENDING } from '../calls/is-waiting.ts';

/** How a run stands, in one word. `queued` and `waiting` are not stored: they follow from the inbox and from the run's calls. */
export type ShownStatus = RunStatus | 'waiting' | 'queued';

/** The statuses that runs are listed by. A queued run has no row. */
export type ListedStatus = Exclude<ShownStatus, 'queued'>;

/**
 * True for a run that has a call that waits for an answer. A run that took one of several answers and stopped again has no such call:
 * it waits with the earlier run of its turn that does.
 */
const HAS_WAITING_CALL: RawBuilder<SqlBool> = sql<SqlBool>`exists (
  select 1 from calls inner join runs as asking on asking.id = calls.run_id
  where calls.thread_id = runs.thread_id and ${IS_PENDING} and calls.during_call is null
    and (asking.id = runs.id or (asking.turn_id = runs.turn_id and substr(runs.stop, 1, 21) = '{"reason":"suspended"')))`;

/** The status of a row of `runs`: a completed run whose calls wait is waiting. */
export const SHOWN_STATUS: RawBuilder<ListedStatus> = sql<ListedStatus>`case
  when runs.status = 'completed' and ${HAS_WAITING_CALL} then 'waiting' else runs.status end`;

/** A condition on `runs`. Waiting runs are found by the calls that wait, which are few. */
export function hasStatus(status: ListedStatus): RawBuilder<SqlBool> {
  if (status === 'waiting')
    return sql<SqlBool>`runs.status = 'completed' and ${HAS_WAITING_CALL} and runs.thread_id in (
      select calls.thread_id from calls where ${IS_PENDING} and calls.during_call is null)`;
  if (status === 'completed') return sql<SqlBool>`runs.status = 'completed' and not ${HAS_WAITING_CALL}`;
  return sql<SqlBool>`runs.status = ${status}`;
}

/** True if a call that the run made waits for an answer. */
export async function runWaits(db: Kysely<Tables>, runId: string): Promise<boolean> {
  const calls = db.selectFrom('calls').select('id').where('run_id', '=', runId).where('during_call', 'is', null);
  return (await calls.where(IS_PENDING).limit(1).executeTakeFirst()) !== undefined;
}
