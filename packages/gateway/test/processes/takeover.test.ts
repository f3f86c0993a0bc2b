import { describe, expect, test } from 'vitest';
import { doDuties } from './answering.ts';
import { openCrew } from './crew.ts';
import { relay, say } from './site.ts';
import { until } from './until.ts';
import { waitingFor } from './waiting-connection.ts';

const LEASE_MS = 1_000;
/** A sweep, and the slowness of a machine that is busy with other tests. With the lease it stays far below the 15 s of the law. */
const SLACK_MS = 8_000;
const JOBS = 'graphile_worker._private_jobs';
const patienceMs = LEASE_MS + SLACK_MS;

describe('what a killed gateway was doing is taken over in time', () => {
  test('[G56] a wake that was active in the queue', async () => {
    await using crew = await openCrew({ kind: 'postgres', leaseMs: LEASE_MS, decide: doDuties });
    const client = await crew.connect();
    // A job cannot be completed while we hold this lock: however slow we are, it is active when its worker dies.
    await client.query(`create function wait() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock(1); return old; end $$`);
    await client.query(`create trigger wait before delete on ${JOBS} for each row execute function wait()`);
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock(1)');
    await client.query(
      `select threads.id from threads join agents using (id) where name = 'Anna' for update of threads`,
    );
    // Nobody waits for a service: its message goes by way of the queue, and by no other.
    await relay(crew.first.url, 'North', 'Anna: answer m1');
    const victim = await waitingFor(client, 'threads');
    await crew.named(victim).kill();
    // The server has not noticed yet, and would go on for the dead.
    await client.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1`, [victim]);
    await client.query('rollback');
    await until(
      'another asks the model',
      () => crew.site.model.requests.some(({ agent, gateway }) => agent === 'Anna' && gateway !== victim),
      { patienceMs },
    );
    await crew.answered('m1');
    const { rowCount } = await client.query(
      `select jobs.id from ${JOBS} as jobs join agents on jobs.key like 'thread:' || agents.id || '%'
        where agents.name = 'Anna' and jobs.locked_at is not null`,
    );
    expect(rowCount, 'the job of the dead is still active').toBe(1);
    await client.end();
    expect(await crew.problems()).toEqual([]);
  });

  test('[G56] a busy thread does not delay an idle one', async () => {
    const never = new Promise<never>(() => {});
    await using crew = await openCrew({
      kind: 'sqlite',
      decide: (request) => (request.agent === 'Anna' ? never : doDuties(request)),
    });
    await say(crew.first.url, 'North', 'Anna: answer m1');
    await until('Anna thinks', () => crew.site.model.requests.some(({ agent }) => agent === 'Anna'));
    await say(crew.first.url, 'South', 'Cleo: answer m2');
    await crew.answered('m2');
  });
});
