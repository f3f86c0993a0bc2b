import { sql } from 'kysely';
import type { Store } from '../../src/ports/store/store.ts';

/**
 * Two transactions that overlap in the worst way, deterministically: the first stays open, with all writes and no commit, until
 * the second waits for it, or is done without having waited. `first` calls `hold` as its last act.
 */
export async function overlap<A, B>(
  store: Store,
  first: (hold: () => Promise<void>) => Promise<A>,
  second: () => Promise<B>,
): Promise<readonly [A, PromiseSettledResult<B>]> {
  const [isWritten, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const one = first(async () => {
    isWritten.resolve();
    await mayCommit.promise;
  });
  await Promise.race([isWritten.promise, one]);
  const two = second();
  // With one connection the second waits for the whole first transaction, so there is no overlap.
  if (store.dialect === 'postgres') await untilSomebodyWaits(store, two);
  mayCommit.resolve();
  const [settled] = await Promise.allSettled([two]);
  return [await one, settled];
}

async function untilSomebodyWaits({ db }: Store, work: Promise<unknown>): Promise<void> {
  let isDone = false;
  const done = (): void => {
    isDone = true;
  };
  work.then(done, done);
  for (let waiting = 0; waiting === 0 && !isDone; ) {
    const { rows } = await sql<{ n: number }>`
      select count(*) as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
    `.execute(db);
    waiting = rows[0]?.n ?? 0;
  }
}
