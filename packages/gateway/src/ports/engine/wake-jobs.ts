import { sql } from 'kysely';
import { type Params, statement } from '../store/statement.ts';
import type { Tx } from '../store/store.ts';

/** The queue's own schema and the name of its one task. */
export const SCHEMA = 'graphile_worker';
export const TASK = 'wake';

/** A job of the queue. Of those with one key there is one, until a worker takes it. */
interface WakeJob {
  readonly key: string;
  readonly threadId: string;
  readonly at: number | null;
  /** Whether it is taken ahead of others. */
  readonly first: boolean;
}

/** What a job tells whoever performs it. */
export interface WakePayload {
  readonly threadId: string;
  readonly first?: boolean;
}

const added = new WeakMap<Tx, Map<string, WakeJob>>();

/**
 * Adds the job at the end of the transaction, with the others of it. A delayed wake has a key of its own, so that it neither
 * puts an immediate one off nor gives way to it; so has one that is ahead of others, so that no later one puts it back.
 */
export function addWakeJob(tx: Tx, threadId: string, at: number | 'first' | undefined): void {
  const first = at === 'first';
  const key = at === undefined ? `thread:${threadId}` : `thread:${threadId}@${at}`;
  const job = { key, threadId, at: first || at === undefined ? null : at, first };
  const jobs = added.get(tx);
  if (jobs !== undefined) {
    jobs.set(key, job);
    return;
  }
  added.set(tx, new Map([[key, job]]));
  // At the end of the end, after stream events were numbered: with one order of locks no two transactions wait for each other.
  tx.beforeCommit(async () => tx.beforeCommit(() => writeJobs(tx)));
}

async function writeJobs(tx: Tx): Promise<void> {
  const jobs = [...(added.get(tx)?.values() ?? [])];
  added.delete(tx);
  let missing = jobs.sort((one, other) => (one.key < other.key ? -1 : 1));
  for (let tries = 0; missing.length > 0 && tries < TRIES; tries++) {
    const keys = await addJobs(tx, missing);
    missing = missing.filter(({ key }) => keys.has(key));
  }
}

/**
 * Gives the keys that were not added: a worker took the job of that key in the same moment. It may have looked before this
 * transaction is seen, so another job is needed, and the next try makes one.
 */
async function addJobs(tx: Tx, jobs: readonly WakeJob[]): Promise<ReadonlySet<string>> {
  const rows = await addAll(tx.db, {
    keys: jobs.map(({ key }) => key),
    threads: jobs.map(({ threadId }) => threadId),
    times: jobs.map(({ at }) => at),
    firsts: jobs.map(({ first }) => first),
  });
  return new Set(rows.map(({ key }) => key));
}

interface JobValues {
  readonly keys: readonly string[];
  readonly threads: readonly string[];
  readonly times: readonly (number | null)[];
  readonly firsts: readonly boolean[];
}

const addAll = statement(
  (_db, { keys, threads, times, firsts }: Params<JobValues>) => sql<{ key: string }>`
    select asked.key
    from unnest(${keys}::text[], ${threads}::text[], ${times}::bigint[], ${firsts}::boolean[])
      as asked (key, thread, at, first)
    cross join lateral ${sql.id(SCHEMA, 'add_job')}(
      identifier => ${TASK}::text,
      payload => json_build_object('threadId', asked.thread, 'first', asked.first),
      run_at => to_timestamp(asked.at / 1000.0),
      job_key => asked.key,
      priority => case when asked.first then -10 else 0 end
    ) as job
    where job.id is null`,
);

const TRIES = 5;
