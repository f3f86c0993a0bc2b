import { LastcallError } from '@lastcall/core';

/**
 * A staged write was refused when its call was settled, because something changed since the call checked it. All writes
 * of the call are undone: when the run resumes, the call runs again and sees the change.
 */
export class StagedWriteRefused extends LastcallError {
  override readonly name: string = 'StagedWriteRefused';

  constructor(cause: Error) {
    super('staged_write_refused', `Something changed while the call ran: ${cause.message}`, { cause });
  }
}
