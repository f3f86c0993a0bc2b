import { Client } from 'pg';
import { beforeEach, describe, expect, test } from 'vitest';
import { until } from '../processes/until.ts';
import { forEachTest } from '../support/for-all-tests.ts';
import { runStatements } from '../support/run-statements.ts';
import { onPostgres } from '../support/stores.ts';

describe('an upgrade of a PostgreSQL database that other sessions are using', () => {
  const database = forEachTest(onPostgres.create);
  const connections = forEachTest(async () => {
    const [worker, observer] = await Promise.all([connect(database.location), connect(database.location)]);
    return { worker, observer, close: async () => void (await Promise.all([worker.end(), observer.end()])) };
  });

  // The upgrade changes nested_usage first, and calls later.
  beforeEach(async () => {
    await runStatements(database, [
      `delete from kysely_migration where name in ('0059-reasoning-tokens', '0060-ended-waits', '0061-calls-by-tool')`,
      'drop index calls_by_tool',
      'alter table nested_usage drop column reasoning_tokens',
    ]);
  });

  const waitsForCalls = async (): Promise<boolean> => {
    const { rowCount } = await connections.observer.query(
      `select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like 'drop index%'`,
    );
    return rowCount !== 0;
  };

  const isUpgraded = async (): Promise<void> => {
    const { rowCount } = await connections.observer.query('select reasoning_tokens from nested_usage');
    expect(rowCount).toBe(0);
  };

  test('is tried again after a deadlock with a gateway at work', async () => {
    const { worker } = connections;
    // Otherwise PostgreSQL ends the worker's transaction if this test is slow.
    await worker.query(`set deadlock_timeout = '10min'`);
    await worker.query('begin');
    await worker.query('select from calls');
    const opening = database.open();
    await until('the upgrade waits for the calls', waitsForCalls);
    // Each has what the other waits for, so PostgreSQL ends the upgrade.
    await worker.query('select from nested_usage');
    await worker.query('commit');
    await (await opening).close();
    await isUpgraded();
  });

  test('lets gateways go on while a backup runs, and continues after it', async () => {
    const { worker: backup, observer: gateway } = connections;
    await backup.query('begin');
    await backup.query('lock table calls in access share mode');
    const opening = database.open();
    await until('the upgrade waits for the calls', waitsForCalls);
    await gateway.query('select from nested_usage');
    await gateway.query('select from calls');
    await backup.query('commit');
    await (await opening).close();
    await isUpgraded();
  });
});

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}
