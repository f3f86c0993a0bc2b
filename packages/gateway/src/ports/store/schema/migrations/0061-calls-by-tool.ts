import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * A list of runs that called a tool looks for such a call in each run. Without the index it reads all calls of the run, with their inputs
 * and outcomes: with 100,000 runs, more than half a second in which SQLite does nothing else. None of the columns ever changes, so on
 * PostgreSQL the end of a call still changes no index.
 */
export function callsByTool(): Migration {
  return {
    async up(db) {
      await sql.raw('create index calls_by_tool on calls (tool_name, run_id) where during_call is null').execute(db);
    },
  };
}
