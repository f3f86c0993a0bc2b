import type { Services } from '../../ports/services.ts';
import { ApiError } from '../api-error.ts';
import { type AnsweredCall, answer } from './answer-call.ts';

/**
 * A late answer in a request that stores nothing else: it came after the end of the call, or after another answer. `keepLate`
 * stores it once the request is rolled back.
 */
export class LateAnswer extends ApiError {
  readonly answered: AnsweredCall;

  constructor({ code, message, details }: ApiError, answered: AnsweredCall) {
    super(code, message, { details });
    this.answered = answered;
  }
}

/** Throws the error. A late answer is first stored for operators, as its message says. */
export async function keepLate(services: Pick<Services, 'store'>, error: unknown): Promise<never> {
  if (error instanceof LateAnswer) await answer(services, error.answered);
  throw error;
}
