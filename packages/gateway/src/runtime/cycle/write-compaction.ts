import { COMPACTION, type Compaction, toCompactionPayload } from '../../domain/consciousness/transcript-row.ts';
import type { HeldThread } from '../lease.ts';
import { appendRows, type RowPlace } from './append-rows.ts';

/**
 * From here on the thread is loaded from this row. What its session holds is no part of it: whoever writes a compaction writes a
 * snapshot of the session in the same transaction.
 */
export function writeCompaction(held: HeldThread, place: RowPlace, compaction: Compaction): void {
  appendRows(held, place, [{ kind: COMPACTION, payload: toCompactionPayload(compaction) }]);
}
