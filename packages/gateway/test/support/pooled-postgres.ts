import { openPostgresStore } from '../../src/ports/store/postgres/postgres-store.ts';
import { startPooler, throughPooler } from './pooler.ts';
import { type Database, type DatabaseKind, onPostgres } from './stores.ts';

/** PostgreSQL behind a pooler in transaction mode, which gives each transaction another connection of the server. */
export const onPooledPostgres: DatabaseKind = {
  kind: 'postgres',
  title: 'postgres behind a pooler in transaction mode',
  create: createPooledPostgres,
};

async function createPooledPostgres(): Promise<Database> {
  const database = await onPostgres.create();
  const pooler = await startPooler(database.location);
  const pooledUrl = throughPooler(database.location, pooler);
  return {
    ...database,
    pooledUrl,
    open: (parts) => openPostgresStore({ url: pooledUrl, directUrl: database.location, connections: 8 }, parts),
    async remove() {
      await pooler[Symbol.asyncDispose]();
      await database.remove();
    },
  };
}
