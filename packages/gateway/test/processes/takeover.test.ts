import { describe, expect, test } from 'vitest';
import { doDuties } from './answering.ts';
import { openCrew } from './crew.ts';
import { relay, say } from './site.ts';
import { until } from './until.ts';
import { waitingFor } from './waiting-connection.ts';

const LEASE_MS = 1_000;
/** A sweep, and the slowness of a machine that is busy with other tests. With the lease it stays far below the 15 s of the law. */
const SLACK_MS = 8_000;
const patienceMs = LEASE_MS + SLACK_MS;

describe('the work of a killed gateway is taken over in time', () => {
  test('[G56] a gateway that is killed while it claims a thread is replaced by another', async () => {
    await using crew = await openCrew({ kind: 'postgres', leaseMs: LEASE_MS, decide: doDuties });
    const client = await crew.connect();
    // The claim waits for this lock, so that it is active when its worker dies, however slow the test is.
    await client.query('begin');
    await client.query(
      `select threads.id from threads join agents using (id) where name = 'Anna' for update of threads`,
    );
    await relay(crew.first.url, 'North', 'Anna: answer m1');
    const victim = await waitingFor(client, 'threads');
    await crew.named(victim).kill();
    // The server has not noticed the death yet, and would continue the transaction.
    // Other tests have gateways with the same name on this server, in other databases.
    await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name = $1`,
      [victim],
    );
    await client.query('rollback');
    await until(
      'another asks the model',
      () => crew.site.model.requests.some(({ agent, gateway }) => agent === 'Anna' && gateway !== victim),
      { patienceMs },
    );
    await crew.answered('m1');
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
