import { createPool } from '../../packages/gateway/src/ports/store/postgres/postgres-pool.ts';
import type { BenchDatabase, BenchDatabases } from '../gateway/databases.ts';
import { type Handled, handle, type Variant } from '../gateway/posted-messages.bench.ts';

/** The cost of a message, and the connections that the gateways had open to the server. */
export interface MeasuredRun extends Handled {
  readonly databaseMs: number;
  /** Connections of all gateways, without those of the pooler's pool. */
  readonly connections: number;
}

export interface Measured {
  readonly one: MeasuredRun;
  readonly two: MeasuredRun;
  readonly pooled: MeasuredRun;
}

const MESSAGES: Variant = { store: 'postgres', gateways: 1, posts: 'messages' };

export async function measureAll(databases: BenchDatabases): Promise<Measured> {
  const one = await measured(MESSAGES, databases);
  const two = await measured({ ...MESSAGES, gateways: 2 }, databases);
  const pooled = await measured({ ...MESSAGES, isPooled: true }, databases);
  return { one, two, pooled };
}

async function measured(variant: Variant, databases: BenchDatabases): Promise<MeasuredRun> {
  let connections = 0;
  const handled = await handle(variant, databases, async (database) => {
    connections = await connectionsOf(database);
  });
  return { ...handled, databaseMs: handled.databaseMs ?? Number.NaN, connections };
}

/** Counts the connections; with a pooler, only those that do not go through it. */
async function connectionsOf({ settings }: BenchDatabase): Promise<number> {
  if (!('databaseUrl' in settings)) return 0;
  const { databaseUrl, databaseDirectUrl } = settings;
  const pool = createPool(databaseDirectUrl ?? databaseUrl, 1);
  const { rows } = await pool.query<{ count: string }>(
    `select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
     and backend_type = 'client backend' and ($1 = false or application_name = 'direct')`,
    [databaseDirectUrl !== undefined],
  );
  await pool.end();
  return Number(rows[0]?.count);
}
