import type { ClientBase } from 'pg';
import type { BatchStatement } from './postgres-batch.ts';
import { StandbyServer } from './postgres-error.ts';

/**
 * The settings that statements of the store need. A connection of our own gets them once, for its whole session. Behind a pooler in
 * transaction mode there is no session: the next transaction may run on another connection, and this one may serve another client. There
 * the settings travel with each transaction, and end with it.
 */
export type SessionSettings = Readonly<Record<string, string | number>>;

export const TIMEOUTS: SessionSettings = {
  // A worker that stalls inside a transaction holds its thread's row: the server ends it, so that another can take over.
  idle_in_transaction_session_timeout: 2_500,
  lock_timeout: 5_000,
  statement_timeout: 15_000,
};

/**
 * Prepared statements are planned once: ours look up rows by their keys, so plans for specific values would be no better, but would be
 * made again each time.
 */
export const STORE_SETTINGS: SessionSettings = { ...TIMEOUTS, plan_cache_mode: 'force_generic_plan' };

/**
 * A group that waits for a lock delays all its members, so it gives up soon, and each member then waits alone. The statements look up a few
 * rows by key and are planned once, perhaps while the tables are empty. Without these settings PostgreSQL would plan full table scans, and
 * keep these plans after the tables have grown.
 */
export const GROUP_SETTINGS: SessionSettings = {
  ...STORE_SETTINGS,
  lock_timeout: 200,
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
};

/**
 * Sets them for the session. They are not parameters of the connection, because PgBouncer refuses connections with parameters that it does
 * not know. Throws if the server is a standby.
 */
export async function setForSession(client: ClientBase, settings: SessionSettings): Promise<void> {
  const all = Object.entries(settings).map(([name, value]) => `set ${name} = ${value};`);
  const results = (await client.query(`${all.join(' ')} ${IS_STANDBY}`)) as unknown as Results | Results[];
  assertPrimary([results].flat().at(-1)?.rows);
}

/** Sets them for the current transaction. `assertPrimary` reads its answer. */
export function setForTransaction(settings: SessionSettings): BatchStatement {
  const all = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', true)`);
  return { name: undefined, text: `${IS_STANDBY}, ${all.join(', ')}`, values: [] };
}

/**
 * A standby answers reads, but perhaps with what was true a moment ago: clients would be told that what they have seen is not there. During a
 * failover an address may lead to one for a while.
 */
export function assertPrimary(rows: readonly object[] | undefined): void {
  const [row] = (rows ?? []) as readonly { readonly standby?: boolean }[];
  if (row?.standby === true) throw new StandbyServer();
}

const IS_STANDBY = 'select pg_is_in_recovery() as standby';

interface Results {
  readonly rows: readonly object[];
}
