import { type ClientBase, Pool, type PoolConfig } from 'pg';
import { parserOf } from './postgres-types.ts';

export function createPool(url: string, connections: number, more: PoolConfig = {}): Pool {
  const pool = new Pool({
    connectionString: url,
    max: connections,
    // Also for who waits because all are busy: they try again, and nothing is lost.
    connectionTimeoutMillis: 10_000,
    // A worker that stalls inside a transaction holds its thread's row: the server ends it, so that another can take over.
    idle_in_transaction_session_timeout: 2_500,
    lock_timeout: 5_000,
    statement_timeout: 15_000,
    types: { getTypeParser: (typeId: number) => parserOf(typeId) },
    ...more,
  });
  // A connection that dies while idle is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => {});
  // So would one that dies while it is lent out and no statement runs. Whoever has it learns of it with the next one.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** The connection that brings the tables up to date: to build the indexes of a large table takes as long as it takes. */
export function createMigrationPool(url: string): Pool {
  return createPool(url, 1, { statement_timeout: 0 });
}

/** Connections of the store, unable to write outside of a transaction. */
export function createStorePool(url: string, connections: number): Pool {
  return createPool(url, connections, { onConnect: prepareSession });
}

/**
 * Connections of groups. A group that waits for a lock holds several up, so it gives up soon, and each waits alone. Their statements
 * look up a few rows by key and are planned once, perhaps while the tables are empty: without these settings PostgreSQL would choose to
 * read whole tables, and go on to do so when they have grown.
 */
export function createGroupPool(url: string, connections: number): Pool {
  return createPool(url, connections, {
    lock_timeout: 200,
    onConnect: async (client) => {
      await prepareSession(client);
      await client.query('set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off');
    },
  });
}

/**
 * Outside of transactions the server refuses to write, so that no write can be forgotten there. `begin read write` lifts it. And it
 * plans a prepared statement once: ours look rows up by their keys, so a plan for certain values is no better, but made anew each time.
 */
async function prepareSession(client: ClientBase): Promise<void> {
  await client.query('set session characteristics as transaction read only; set plan_cache_mode = force_generic_plan');
}
