import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import type { Database } from './stores.ts';

/** Runs SQL without the gateway's code, e.g. to make a database look like one of an earlier version. Nothing else may have it open. */
export async function runStatements({ kind, location }: Database, statements: readonly string[]): Promise<void> {
  if (kind === 'sqlite') {
    using database = new DatabaseSync(join(location, 'lastcall.db'));
    for (const statement of statements) database.exec(statement);
    return;
  }
  const client = new Client({ connectionString: location });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
