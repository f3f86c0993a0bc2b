import type { Services } from '../../ports/services.ts';
import type { Tx } from '../../ports/store/store.ts';
import { ApiError } from '../api-error.ts';
import { type AnsweredCall, answerCall } from './answer-call.ts';

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

/** Throws the error. A late answer is first stored for operators, as its message says. `audit` writes the entry of it. */
export async function keepLate(
  { store }: Pick<Services, 'store'>,
  error: unknown,
  audit: (tx: Tx, late: LateAnswer) => void,
): Promise<never> {
  if (!(error instanceof LateAnswer)) throw error;
  const result = await store.transaction(async (tx) => {
    const stored = await answerCall(tx, error.answered);
    if (stored.status !== 'duplicate') audit(tx, error);
    return stored;
  });
  throw result.status === 'late' ? result.error : error;
}
