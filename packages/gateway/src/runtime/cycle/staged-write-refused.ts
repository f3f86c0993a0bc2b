import { LastcallError } from '@lastcall/core';

/**
 * What a call wrote could no longer be written when it was settled, because the world had changed since it was checked. Nothing of
 * the call remains: whoever takes the run up again runs it again, and then it finds the world as it is.
 */
export class StagedWriteRefused extends LastcallError {
  override readonly name: string = 'StagedWriteRefused';

  constructor(cause: Error) {
    super('staged_write_refused', `The world changed while the call ran: ${cause.message}`, { cause });
  }
}
