import { setImmediate as nextTask } from 'node:timers/promises';
import type { Store, Tx } from '../../ports/store/store.ts';

/** How many rows one transaction deletes: few enough that a run does not notice. */
export const PIECE = 500;

/** How many pieces one sweep deletes. The next sweep deletes the rest. */
const MOST_PIECES = 20;

/**
 * Deletes old rows in small transactions. Between two of them everything else goes on. `deletePiece` returns how many it deleted: fewer
 * than `size` means that there are no more.
 */
export async function inPieces(
  store: Store,
  deletePiece: (tx: Tx) => Promise<number>,
  { size = PIECE }: { readonly size?: number } = {},
): Promise<number> {
  let deleted = 0;
  for (let piece = 0; piece < MOST_PIECES; piece++) {
    const count = await store.transaction(deletePiece);
    deleted += count;
    if (count < size) break;
    await nextTask();
  }
  return deleted;
}
