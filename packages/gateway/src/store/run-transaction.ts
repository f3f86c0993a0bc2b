import { AsyncLocalStorage } from 'node:async_hooks';
import type { Kysely } from 'kysely';
import type { Dialect, Tx } from './store.ts';
import { StoreMisuse } from './store-error.ts';
import type { Tables } from './tables.ts';

const transactions = new AsyncLocalStorage<{ open: boolean }>();

/**
 * Refuses another connection to whoever is inside a transaction. With one connection they would wait for themselves for
 * ever; with several they would read past their own writes, and at the limit wait for each other.
 */
export function assertOutsideTransaction(): void {
  if (transactions.getStore()?.open === true)
    throw new StoreMisuse('The store was used inside a transaction: use the transaction (tx.db).');
}

/** One try of a transaction: the work, what it left for the end, and then what waits for the commit. */
export async function runTransaction<T>(
  db: Kysely<Tables>,
  { dialect, now, onCommit }: { dialect: Dialect; now: () => number; onCommit?: () => void },
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  assertOutsideTransaction();
  const before: (() => Promise<void>)[] = [];
  const after: (() => void)[] = [];
  const inside = { open: true };
  const perform = async (trx: Kysely<Tables>): Promise<T> => {
    const given = await work({
      dialect,
      db: trx,
      now,
      beforeCommit: (last) => void before.push(last),
      afterCommit: (then) => void after.push(then),
    });
    for (const last of before) await last();
    onCommit?.();
    return given;
  };
  try {
    const value = await db.transaction().execute((trx) => transactions.run(inside, () => perform(trx)));
    inside.open = false;
    for (const then of after) then();
    return value;
  } finally {
    // What was started inside and runs on is outside from here.
    inside.open = false;
  }
}
