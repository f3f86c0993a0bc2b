import { LastcallError } from '@lastcall/core';

/**
 * The stored transcript is not the one that its writer has read. Nothing was written: the holder of the thread reads it again and
 * continues from there.
 */
export class StaleTranscript extends LastcallError {
  override readonly name: string = 'StaleTranscript';

  constructor(threadId: string, options?: { cause?: unknown }) {
    super('stale_transcript', `The transcript of thread ${threadId} has changed since it was read.`, options);
  }
}
