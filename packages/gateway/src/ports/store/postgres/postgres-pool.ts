import { Pool, type PoolConfig } from 'pg';
import { type SessionSettings, setForSession, TIMEOUTS } from './postgres-session.ts';
import { parserOf } from './postgres-types.ts';

/** Connections of our own. Each gets the settings once. */
export function createPool(url: string, connections: number, settings: SessionSettings = TIMEOUTS): Pool {
  return openPool(url, connections, { onConnect: (client) => setForSession(client, settings) });
}

/** Connections to a pooler in transaction mode: nothing may be set on them. */
export function createPooledPool(url: string, connections: number): Pool {
  return openPool(url, connections, {});
}

/**
 * A connection for migrations. Building the indexes of a large table can take long, and so can waiting for another gateway that does it: the
 * limits that an administrator has set for the role or the database do not apply.
 */
export function createMigrationPool(url: string): Pool {
  return createPool(url, 1, {
    ...{ statement_timeout: 0, lock_timeout: 0, idle_in_transaction_session_timeout: 0 },
    default_transaction_isolation: "'read committed'",
  });
}

/**
 * Connections of the store. They are read-only outside of transactions, so that every write outside of one fails. `begin read write` lifts
 * this.
 */
export function createStorePool(url: string, connections: number, settings: SessionSettings): Pool {
  return createPool(url, connections, { default_transaction_read_only: 'on', ...settings });
}

function openPool(url: string, connections: number, more: PoolConfig): Pool {
  const pool = new Pool({
    connectionString: url,
    max: connections,
    // Callers wait for a free connection before they ask the pool: see connection-queue.ts. This is the time to open one.
    connectionTimeoutMillis: 10_000,
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
