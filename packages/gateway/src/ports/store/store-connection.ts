import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';

/** A connection that statements are sent on. */
export interface StoreConnection extends DatabaseConnection {
  /**
   * If the database is in this process: runs the statement synchronously, and throws the database's error. A statement
   * of SQLite takes a few microseconds, and each promise would cost about as much.
   */
  executeNow?<Row>(query: CompiledQuery): QueryResult<Row>;
}
