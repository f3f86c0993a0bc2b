import { Client } from 'pg';
import { until } from '../processes/until.ts';
import { type Database, databases } from './stores.ts';

/** Databases on which transactions overlap: SQLite runs them one after the other. */
export const overlapping: typeof databases = databases.filter(({ kind }) => kind === 'postgres');

/** A lock held by a separate connection. */
export interface HeldLock {
  /** More statements of the transaction that holds it. */
  query(statement: string, values?: readonly unknown[]): Promise<void>;
  /** Resolves once this many connections wait, for this lock or behind each other, or once `orDone` is done without waiting. */
  waitedFor(options?: { by?: number; orDone?: Promise<unknown> }): Promise<void>;
  /** Commits, which releases the lock. */
  release(): Promise<void>;
}

/** `statement` takes the lock, e.g. with `for update`. */
export async function holdLock(
  { location }: Database,
  statement: string,
  values: readonly unknown[] = [],
): Promise<HeldLock> {
  const client = new Client({ connectionString: location });
  // A test that fails leaves it open, and removing the database closes its connections.
  client.on('error', () => {});
  await client.connect();
  await client.query('begin');
  const query = async (text: string, given: readonly unknown[] = []): Promise<void> => {
    await client.query(text, [...given]);
  };
  await query(statement, values);
  return {
    query,
    async waitedFor({ by = 1, orDone } = {}) {
      let isDone = false;
      const done = (): void => {
        isDone = true;
      };
      orDone?.then(done, done);
      await until(`${by} connections wait for a lock`, async () => isDone || (await countWaiting(client)) >= by);
    },
    async release() {
      await client.query('commit');
      await client.end();
    },
  };
}

async function countWaiting(client: Client): Promise<number> {
  // A transaction would read the same statistics for ever.
  await client.query('select pg_stat_clear_snapshot()');
  const { rows } = await client.query<{ n: string }>(
    `select count(*) as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return Number(rows[0]?.n);
}
