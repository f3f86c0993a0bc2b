import { DAY_MS } from '../../config/retention.ts';
import type { Services } from '../../ports/services.ts';
import { firstIdAt } from '../audit/first-id-at.ts';
import { inPieces, PIECE } from './in-pieces.ts';

/** Deletes messages that are older than `retention.messages`, oldest first. The card of a call that still waits is kept. */
export async function sweepMessages(
  { store, limits }: Pick<Services, 'store' | 'limits'>,
  { now }: { now?: number } = {},
): Promise<number> {
  if (limits.messageDays === Number.POSITIVE_INFINITY) return 0;
  return await inPieces(store, async (tx) => {
    // Ids are sorted by time, so the primary key finds the oldest.
    const before = firstIdAt((now ?? tx.now()) - limits.messageDays * DAY_MS);
    const oldest = tx.db
      .selectFrom('messages')
      .select('id')
      .where('id', '<', before)
      .where('status', 'not in', ['running', 'requires_action'])
      .orderBy('id')
      .limit(PIECE);
    const { numDeletedRows } = await tx.db.deleteFrom('messages').where('id', 'in', oldest).executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  });
}
