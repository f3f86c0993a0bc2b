import { type DatabaseConnection, type Dialect, type Driver, Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/**
 * Statements of one transaction, each sent as soon as it is asked for. In Kysely's own transactions each waits for the answer to the
 * one before, so that nothing could travel together.
 */
export function kyselyOn(
  db: Kysely<Tables>,
  { dialect, driver }: { dialect: Dialect; driver: Driver },
): (connection: DatabaseConnection) => Kysely<Tables> {
  return (connection) => {
    const executor = db.getExecutor().withConnectionProvider({ provideConnection: (consumer) => consumer(connection) });
    const bound = new Kysely<Tables>({ config: { dialect }, driver, executor, dialect });
    connections.set(bound, connection);
    return bound;
  };
}

const connections = new WeakMap<Kysely<Tables>, DatabaseConnection>();

/** Of statements on one connection. */
export function connectionOf(db: Kysely<Tables>): DatabaseConnection | undefined {
  return connections.get(db);
}
