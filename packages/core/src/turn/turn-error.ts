import { LastcallError } from '../errors.ts';
import { describeError } from '../results/describe-error.ts';
import type { Stop } from '../transcript/stop.ts';
import type { Transcript } from '../transcript/transcript.ts';

/** Wraps an error that could not carry the transcript itself; that error is its cause. */
export class TurnFailed extends LastcallError {
  override readonly name: string = 'TurnFailed';
  readonly stop: Stop;
  readonly transcript: Transcript;

  constructor(cause: unknown, stop: Stop, transcript: Transcript) {
    super('turn_failed', describeError(cause).message, { cause });
    this.stop = stop;
    this.transcript = transcript;
  }
}

/** The same error with `stop` and `transcript` attached, so that the history is not lost. */
export function attachTurn(error: unknown, stop: Stop, transcript: Transcript): unknown {
  if (!(error instanceof Error)) return new TurnFailed(error, stop, transcript);
  try {
    // Overwritten, because an error may pass here twice: thrown again by a provider, or out of a nested turn.
    const hidden = { enumerable: false, configurable: true, writable: true };
    Object.defineProperty(error, 'transcript', { value: transcript, ...hidden });
    Object.defineProperty(error, 'stop', { value: stop, ...hidden });
    return error;
  } catch {
    return new TurnFailed(error, stop, transcript);
  }
}
