import type { ErrorCode, Outcome } from '../results/outcome.ts';

/** The outcome of a call that did not succeed. */
export type ErrorOutcome = Extract<Outcome, { status: 'error' }>;

/** `message` is for programs and people who know the call; `text` is what the model reads. */
export function errorOutcome(code: ErrorCode, message: string, text: string = message): ErrorOutcome {
  return { status: 'error', code, message, text };
}

/** A stage's result: continue with a value, or end the call here. */
export type Stage<T> = { readonly go: T } | { readonly end: Outcome };
