import type { Services } from '../../ports/services.ts';
import { ApiError } from '../api-error.ts';
import { type AnsweredCall, answer } from './answer-call.ts';

/** An answer that came too late, or lost against another, with a request that stores nothing. `keepLate` stores it once the request is rolled back. */
export class LateAnswer extends ApiError {
  readonly answered: AnsweredCall;

  constructor({ status, code, message, details }: ApiError, answered: AnsweredCall) {
    super(status, code, message, { details });
    this.answered = answered;
  }
}

/** Throws the error. A late answer is kept for operators first: its message says so. */
export async function keepLate(services: Services, error: unknown): Promise<never> {
  if (error instanceof LateAnswer) await answer(services, error.answered);
  throw error;
}
