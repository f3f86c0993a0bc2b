import { type ClientBase, Pool, type PoolConfig } from 'pg';
import { parserOf } from './postgres-types.ts';

export function createPool(url: string, connections: number, more: PoolConfig = {}): Pool {
  const pool = new Pool({
    connectionString: url,
    max: connections,
    // This is also the wait for a free connection. After it, callers retry, and nothing is lost.
    connectionTimeoutMillis: 10_000,
    // A worker that stalls inside a transaction holds its thread's row: the server ends it, so that another can take over.
    idle_in_transaction_session_timeout: 2_500,
    lock_timeout: 5_000,
    statement_timeout: 15_000,
    types: { getTypeParser: (typeId: number) => parserOf(typeId) },
    ...more,
  });
  // The pool replaces a connection that dies while idle. Without a listener the error would end the process.
  pool.on('error', () => {});
  // The same holds for a connection that dies between two statements of its user. The user gets the error with the next
  // statement.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/**
 * A connection for migrations. Building the indexes of a large table can take long, and so can waiting for another gateway that does it.
 */
export function createMigrationPool(url: string): Pool {
  return createPool(url, 1, { statement_timeout: 0, lock_timeout: 0, idle_in_transaction_session_timeout: 0 });
}

/** Connections of the store. They cannot write outside of a transaction. */
export function createStorePool(url: string, connections: number): Pool {
  return createPool(url, connections, { onConnect: prepareSession });
}

/**
 * Connections of groups. A group that waits for a lock delays all its members, so it gives up soon, and each member
 * then waits alone. The statements look up a few rows by key and are planned once, perhaps while the tables are empty.
 * Without these settings PostgreSQL would plan full table scans, and keep these plans after the tables have grown.
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
 * Makes the session read-only outside of transactions, so that every write outside of one fails. `begin read write`
 * lifts this. Prepared statements are planned once: ours look up rows by their keys, so plans for specific values would
 * be no better, but would be made again each time.
 */
async function prepareSession(client: ClientBase): Promise<void> {
  await client.query('set session characteristics as transaction read only; set plan_cache_mode = force_generic_plan');
}
