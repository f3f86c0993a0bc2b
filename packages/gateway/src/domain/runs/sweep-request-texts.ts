import { DAY_MS } from '../../config/retention.ts';
import type { Services } from '../../ports/services.ts';
import { inPieces, PIECE } from '../retention/in-pieces.ts';

/**
 * Deletes texts that no request has used for `retention.requests` days. Conversations that used them may be kept for longer, and then
 * the requests of their steps can no longer be read. The use of a text is recorded once a day, by gateways that check at most
 * once a day, so two more days are added.
 */
export async function sweepRequestTexts(
  { store, limits }: Pick<Services, 'store' | 'limits'>,
  { now }: { now?: number } = {},
): Promise<void> {
  await inPieces(store, async (tx) => {
    const before = (now ?? tx.now()) - (limits.requestDays + 2) * DAY_MS;
    const unused = tx.db.selectFrom('request_texts').select('hash').where('used_at', '<', before);
    const { numDeletedRows } = await tx.db
      .deleteFrom('request_texts')
      .where('hash', 'in', unused.orderBy('used_at').limit(PIECE))
      .executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  });
}
