import { backoffMs } from '../backoff-ms.ts';
import type { Clock } from '../clock.ts';
import type { Middleware } from '../contract/middleware.ts';
import { systemClock } from '../defaults.ts';
import {
  DeadlineExceededError,
  OptionsError,
  PolicyDenied,
  PromptEvaluationError,
  ReadOnlyError,
  ToolValidationError,
  VisibilityExpansionRequired,
} from '../errors.ts';
import { isRetryable } from '../model/retry-policy.ts';
import { isToolResult } from '../results/result.ts';
import { assertKnownOptions, type KnownNames, knownNames } from '../unknown-option.ts';

export interface RetryOptions {
  /** The total number of attempts. */
  attempts: number;
  /**
   * Milliseconds before the next attempt; `attempt` is the one that failed, counted from 1. Default 200, doubled each
   * time.
   */
  backoff?: number | ((attempt: number) => number);
  clock?: Clock;
}

const OPTIONS: KnownNames = knownNames<RetryOptions>(
  { attempts: true, backoff: true, clock: true },
  { maxAttempts: 'attempts', retries: 'attempts', maxRetries: 'attempts', delay: 'backoff', backoffMs: 'backoff' },
);

/**
 * Runs a failed tool again, each time from a clean state, and repeats a request to the model after a temporary error.
 * Not for a rule that refused, wrong arguments, or a host signal: repeating does not help there.
 */
export function retry(options: RetryOptions): Middleware {
  assertKnownOptions(options, OPTIONS);
  const {
    attempts,
    backoff = (attempt: number) => backoffMs(attempt, { firstMs: 200 }),
    clock = systemClock,
  } = options;
  if (!Number.isInteger(attempts) || attempts < 1)
    throw new OptionsError('attempts', 'must be a whole number of 1 or more.');
  const wait = (attempt: number, signal?: AbortSignal): Promise<void> =>
    clock.sleep(typeof backoff === 'number' ? backoff : backoff(attempt), signal);
  return {
    name: 'retry',
    async call(next, _call, ctx) {
      for (let attempt = 1; ; attempt++) {
        const last = attempt >= attempts || ctx.abortSignal.aborted;
        try {
          const returned = await next();
          if (last || !(isToolResult(returned) && returned.status === 'error' && !FINAL_CODES.has(returned.code)))
            return returned;
        } catch (error) {
          if (last || isFinal(error)) throw error;
        }
        await wait(attempt, ctx.abortSignal);
      }
    },
    async model(next, request) {
      const isOver = (): boolean => request.abortSignal?.aborted === true;
      for (let attempt = 1; ; attempt++) {
        try {
          return await next();
        } catch (error) {
          if (attempt >= attempts || isOver() || !isRetryable(error)) throw error;
          await wait(attempt, request.abortSignal);
          // If the wait was cut short, there is no further attempt: the turn no longer needs the reply.
          if (isOver()) throw error;
        }
      }
    },
  };
}

/** A rule refused, or the tool has acted or may have acted: running it again would do it twice. */
const FINAL_CODES: ReadonlySet<string> = new Set(['blocked', 'unknown_outcome', 'invalid_output']);

function isFinal(error: unknown): boolean {
  const final = [
    ToolValidationError,
    PolicyDenied,
    ReadOnlyError,
    VisibilityExpansionRequired,
    PromptEvaluationError,
    DeadlineExceededError,
  ];
  try {
    return final.some((type) => error instanceof type);
  } catch {
    return false;
  }
}
