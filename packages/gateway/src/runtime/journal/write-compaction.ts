import { COMPACTION, type Compaction, toCompactionPayload } from '../../domain/transcript/transcript-row.ts';
import type { HeldThread } from '../lease/lease.ts';
import { appendRows, type RowPosition } from './append-rows.ts';

/**
 * Writes a compaction: from now on the thread is loaded from this row. The row does not contain the session, so the
 * caller must write a snapshot of the session in the same transaction.
 */
export function writeCompaction(held: HeldThread, place: RowPosition, compaction: Compaction): void {
  appendRows(held, place, [{ kind: COMPACTION, payload: toCompactionPayload(compaction) }]);
}
