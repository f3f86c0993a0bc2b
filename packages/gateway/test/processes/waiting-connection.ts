import type { Client } from 'pg';
import { until } from './until.ts';

/** The gateway that waits for a lock on the table that another connection holds. */
export async function waitingFor(client: Client, table: string): Promise<string> {
  return await until(`somebody waits for a row of ${table}`, async () => {
    // A transaction would read the same statistics for ever.
    await client.query('select pg_stat_clear_snapshot()');
    const { rows } = await client.query(
      `select application_name as name from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like $1 and application_name in ('a', 'b')`,
      [`%${table}%`],
    );
    return (rows[0] as { name: string } | undefined)?.name;
  });
}
