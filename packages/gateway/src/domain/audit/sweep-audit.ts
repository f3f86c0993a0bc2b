import { DAY_MS } from '../../config/retention.ts';
import type { Services } from '../../ports/services.ts';
import { inPieces, PIECE } from '../retention/in-pieces.ts';
import { firstIdAt } from './first-id-at.ts';

/** Deletes entries that are older than `retention.audit`, oldest first, in small transactions. The next sweep deletes the rest. */
export async function sweepAudit(
  { store, limits }: Pick<Services, 'store' | 'limits'>,
  { now }: { now?: number } = {},
): Promise<number> {
  return await inPieces(store, async (tx) => {
    const before = firstIdAt((now ?? tx.now()) - limits.auditDays * DAY_MS);
    const oldest = tx.db.selectFrom('audit').select('id').where('id', '<', before).orderBy('id').limit(PIECE);
    const { numDeletedRows } = await tx.db.deleteFrom('audit').where('id', 'in', oldest).executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  });
}
