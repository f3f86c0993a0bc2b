import { type DatabaseConnection, type Dialect, type Driver, Kysely } from 'kysely';
import type { Tables } from './schema/tables.ts';

/**
 * Runs statements of one transaction, each sent immediately. In Kysely's own transactions each statement waits for the
 * answer to the one before, so statements could not share a round trip.
 */
export function kyselyOn(
  db: Kysely<Tables>,
  { dialect, driver }: { dialect: Dialect; driver: Driver },
): (connection: DatabaseConnection) => Kysely<Tables> {
  return (connection) => {
    const executor = db.getExecutor().withConnectionProvider({ provideConnection: (consumer) => consumer(connection) });
    const bound = new Kysely<Tables>({ config: { dialect }, driver, executor, dialect });
    return runOn(bound, connection);
  };
}

const connections = new WeakMap<Kysely<Tables>, DatabaseConnection>();

/** Sends compiled statements directly to this connection. Kysely needs several steps to find it. */
export function runOn(db: Kysely<Tables>, connection: DatabaseConnection): Kysely<Tables> {
  connections.set(db, connection);
  return db;
}

export function connectionOf(db: Kysely<Tables>): DatabaseConnection | undefined {
  return connections.get(db);
}
