import type { Services } from '../../ports/services.ts';
import type { Tx } from '../../ports/store/store.ts';
import { firstIdAt } from '../audit/first-id-at.ts';

/** Deletes notifications that are older than `notificationDays`, oldest first, in small transactions. The next sweep deletes the rest. */
export async function sweepNotifications(
  { store, limits }: Pick<Services, 'store' | 'limits'>,
  { now }: { now?: number } = {},
): Promise<number> {
  let swept = 0;
  for (let piece = 0; piece < MOST_PIECES; piece++) {
    const deleted = await store.transaction((tx) =>
      deleteOldest(tx, firstIdAt((now ?? tx.now()) - limits.notificationDays * DAY_MS)),
    );
    swept += deleted;
    if (deleted < PIECE) break;
  }
  return swept;
}

const DAY_MS = 86_400_000;
const PIECE = 500;
const MOST_PIECES = 20;

async function deleteOldest(tx: Tx, before: string): Promise<number> {
  const oldest = tx.db.selectFrom('notifications').select('id').where('id', '<', before).orderBy('id').limit(PIECE);
  const { numDeletedRows } = await tx.db
    .deleteFrom('notifications')
    .where('id', 'in', oldest)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
