import { sql } from 'kysely';
import { type Params, statement } from '../store/statement.ts';
import type { Tx } from '../store/store.ts';

/** The queue's own schema, and the name of its one task. */
export const SCHEMA = 'graphile_worker';
export const TASK = 'wake';

/** A job of the queue. There is one job per key, until a worker takes it. */
interface WakeJob {
  readonly key: string;
  readonly threadId: string;
  readonly at: number | null;
  /** True if the job is taken before others. */
  readonly isUrgent: boolean;
}

/** What a job carries. */
export interface WakePayload {
  readonly threadId: string;
  readonly first?: boolean;
}

const jobsOfTransaction = new WeakMap<Tx, Map<string, WakeJob>>();

/**
 * Adds the job at the end of the transaction, together with its others. Delayed wakes have keys of their own, so that
 * they neither postpone an immediate wake nor are replaced by it. So have urgent ones, so that no later wake removes
 * the urgency.
 */
export function addWakeJob(tx: Tx, threadId: string, at: number | 'urgent' | undefined): void {
  const isUrgent = at === 'urgent';
  const key = at === undefined ? `thread:${threadId}` : `thread:${threadId}@${isUrgent ? 'first' : at}`;
  const job = { key, threadId, at: isUrgent || at === undefined ? null : at, isUrgent };
  const jobs = jobsOfTransaction.get(tx);
  if (jobs !== undefined) {
    jobs.set(key, job);
    return;
  }
  jobsOfTransaction.set(tx, new Map([[key, job]]));
  // Runs after the stream events were numbered: with one order of locks no two transactions wait for each other.
  tx.beforeCommit(async () => tx.beforeCommit(() => writeJobs(tx)));
}

async function writeJobs(tx: Tx): Promise<void> {
  const jobs = [...(jobsOfTransaction.get(tx)?.values() ?? [])];
  jobsOfTransaction.delete(tx);
  let missing = jobs.sort((one, other) => (one.key < other.key ? -1 : 1));
  for (let tries = 0; missing.length > 0 && tries < MAX_TRIES; tries++) {
    const keys = await addJobs(tx, missing);
    missing = missing.filter(({ key }) => keys.has(key));
  }
}

/**
 * Returns the keys that were not added, because a worker took the job of that key at the same moment. It may have read
 * before this transaction is visible, so another job is needed, and the next attempt adds one.
 */
async function addJobs(tx: Tx, jobs: readonly WakeJob[]): Promise<ReadonlySet<string>> {
  const rows = await addAll(tx.db, {
    keys: jobs.map(({ key }) => key),
    threads: jobs.map(({ threadId }) => threadId),
    times: jobs.map(({ at }) => at),
    urgent: jobs.map(({ isUrgent }) => isUrgent),
  });
  return new Set(rows.map(({ key }) => key));
}

interface JobValues {
  readonly keys: readonly string[];
  readonly threads: readonly string[];
  readonly times: readonly (number | null)[];
  readonly urgent: readonly boolean[];
}

const addAll = statement(
  (_db, { keys, threads, times, urgent }: Params<JobValues>) => sql<{ key: string }>`
    select requested.key
    from unnest(${keys}::text[], ${threads}::text[], ${times}::bigint[], ${urgent}::boolean[])
      as requested (key, thread, at, urgent)
    cross join lateral ${sql.id(SCHEMA, 'add_job')}(
      identifier => ${TASK}::text,
      payload => json_build_object('threadId', requested.thread, 'first', requested.urgent),
      run_at => to_timestamp(requested.at / 1000.0),
      job_key => requested.key,
      priority => case when requested.urgent then -10 else 0 end
    ) as job
    where job.id is null`,
);

const MAX_TRIES = 5;
