import { LastcallError } from '@lastcall/core';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';

/** Somebody's cancel was accepted before this was written: it is not written, and the run ends as cancelled. */
export class RunCancelled extends LastcallError {
  override readonly name: string = 'RunCancelled';

  constructor(runId: string) {
    super('run_cancelled', `Run ${runId} was cancelled.`);
  }
}

/** Throws if a cancel was accepted. From here on until the commit none is. */
export async function assertNotCancelled(tx: Tx, runId: string): Promise<void> {
  if (await isCancelAccepted(tx, runId)) throw new RunCancelled(runId);
}

/** Whether a cancel was accepted. The row is locked: the answer holds until the commit. */
export async function isCancelAccepted(tx: Tx, runId: string): Promise<boolean> {
  const [run] = await lockRun(tx.db, { runId });
  return run !== undefined && run.cancel_requested_at !== null;
}

const lockRun = statement((db, { runId }: Params<{ runId: string }>, dialect) => {
  const run = db.selectFrom('runs').select('cancel_requested_at').where('id', '=', runId);
  return dialect === 'sqlite' ? run : run.forNoKeyUpdate();
});
