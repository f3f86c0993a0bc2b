import { sql } from 'kysely';
import { type Params, type Statement, statement } from './statement.ts';
import type { Tx } from './store.ts';

/** The order in which a transaction locks rows of these tables: docs/decisions/0018. */
const LOCK_ORDER = ['threads', 'spaces', 'agents', 'runs'] as const;

type LockedTable = (typeof LOCK_ORDER)[number];

interface Locked {
  readonly ids: readonly string[];
}

/**
 * Locks rows until the commit, so that no other transaction changes them. The rows are always locked in the same order,
 * by table and then by id, so two transactions that lock the same rows cannot deadlock. SQLite runs one transaction at
 * a time and needs no locks.
 */
export async function lockRows(tx: Tx, rows: { readonly [T in LockedTable]?: readonly string[] }): Promise<void> {
  if (tx.dialect === 'sqlite') return;
  tx.runAlone();
  for (const table of LOCK_ORDER) {
    const ids = rows[table] ?? [];
    if (ids.length > 0) await LOCKS[table](tx.db, { ids });
  }
}

/**
 * NO KEY UPDATE is weaker than FOR UPDATE: rows that refer to these may still be written. Rows are locked in the order
 * in which they are sorted.
 */
function lockIn(table: LockedTable): Statement<Locked, unknown> {
  return statement(
    (_db, { ids }: Params<Locked>) =>
      sql`select id from ${sql.table(table)} where id = any(${ids}::text[]) order by id collate "C" for no key update`,
  );
}

const LOCKS: Readonly<Record<LockedTable, Statement<Locked, unknown>>> = {
  threads: lockIn('threads'),
  spaces: lockIn('spaces'),
  agents: lockIn('agents'),
  runs: lockIn('runs'),
};
