import { LastcallError } from '@lastcall/core';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';

/** A cancel was accepted before this write. Nothing is written, and the run ends as cancelled. */
export class RunCancelled extends LastcallError {
  override readonly name: string = 'RunCancelled';

  constructor(runId: string) {
    super('run_cancelled', `Run ${runId} was cancelled.`);
  }
}

/** Throws if a cancel was accepted. If not, none is accepted until the commit. */
export async function assertNotCancelled(tx: Tx, runId: string): Promise<void> {
  if (await isCancelAccepted(tx, runId)) throw new RunCancelled(runId);
}

/** True if a cancel was accepted. The row is locked, so the answer holds until the commit. */
export async function isCancelAccepted(tx: Tx, runId: string): Promise<boolean> {
  const [run] = await lockRun(tx.db, { runId });
  return run !== undefined && run.cancel_requested_at !== null;
}

const lockRun = statement((db, { runId }: Params<{ runId: string }>) =>
  db.selectFrom('runs').select('cancel_requested_at').where('id', '=', runId).forNoKeyUpdate(),
);

/**
 * Looks for an accepted cancel without locking the row. After the commit, the returned function says if there was one. A worker may not have
 * been told: notices get lost, and one may come before the worker listens.
 */
export function lookForCancel(tx: Tx, runId: string): () => boolean {
  const sent = tx.send(findCancelled, { runId });
  return () => sent.rows.length > 0;
}

const findCancelled = statement(
  (db, { runId }: Params<{ runId: string }>) =>
    db.selectFrom('runs').select('id').where('id', '=', runId).where('cancel_requested_at', 'is not', null),
  { types: { runId: 'text' } },
);
