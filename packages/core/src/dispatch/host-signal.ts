import {
  DeadlineExceededError,
  PromptEvaluationError,
  SliceVersionError,
  VisibilityExpansionRequired,
} from '../errors.ts';

/**
 * The error for the host, if what a tool threw is a host signal that leaves the loop. Undefined for everything else,
 * which is a failure of the call. A DeadlineExceededError leaves as a PromptEvaluationError, with the expiry.
 */
export function toHostSignal(thrown: unknown, deadline: number | undefined): Error | undefined {
  try {
    if (thrown instanceof VisibilityExpansionRequired) return thrown;
    if (thrown instanceof PromptEvaluationError) return thrown;
    // No call can work with this state until the program is changed.
    if (thrown instanceof SliceVersionError) return thrown;
    if (!(thrown instanceof DeadlineExceededError)) return undefined;
    const expiresAt = thrown.expiresAt ?? deadline;
    return new PromptEvaluationError(thrown.message, { phase: 'tool', expiresAt, cause: thrown });
  } catch {
    // A proxy whose prototype cannot be read is not one of our signals.
    return undefined;
  }
}
