import { type Dialect, type Driver, Kysely } from 'kysely';
import type { StoreConnection } from './store-connection.ts';
import type { Tables } from './tables.ts';

/**
 * Statements of one transaction, each sent as soon as it is asked for. In Kysely's own transactions each waits for the answer to the
 * one before, so that nothing could travel together.
 */
export function kyselyOn(
  db: Kysely<Tables>,
  { dialect, driver }: { dialect: Dialect; driver: Driver },
): (connection: StoreConnection) => Kysely<Tables> {
  return (connection) => {
    const executor = db.getExecutor().withConnectionProvider({ provideConnection: (consumer) => consumer(connection) });
    const bound = new Kysely<Tables>({ config: { dialect }, driver, executor, dialect });
    return runOn(bound, connection);
  };
}

const connections = new WeakMap<Kysely<Tables>, StoreConnection>();

/** Has compiled statements sent to this connection right away. Kysely takes several steps to find the one it has. */
export function runOn(db: Kysely<Tables>, connection: StoreConnection): Kysely<Tables> {
  connections.set(db, connection);
  return db;
}

export function connectionOf(db: Kysely<Tables>): StoreConnection | undefined {
  return connections.get(db);
}
