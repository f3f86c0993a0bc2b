import {
  DeadlineExceededError,
  PromptEvaluationError,
  SliceVersionError,
  VisibilityExpansionRequired,
} from '../errors.ts';

/**
 * What of all that a tool may throw is meant for the host and leaves the loop. Undefined for everything else, which is
 * the call's own failure. A deadline that the tool noticed leaves as the evaluation's failure, with the expiry.
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
    // A proxy whose prototype cannot be asked for is no signal of ours.
    return undefined;
  }
}
