import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';

/** A connection that statements are sent on. */
export interface StoreConnection extends DatabaseConnection {
  /**
   * Where the database is in this process: runs the statement before it returns, and throws what the database says. A statement of
   * SQLite takes a few microseconds, and each promise on its way costs about as much.
   */
  executeNow?<Row>(query: CompiledQuery): QueryResult<Row>;
}
