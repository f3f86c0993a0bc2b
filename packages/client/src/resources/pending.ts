import type { Connection, RequestOptions } from '../connection.ts';
import { toVerdict, type Verdict } from '../verdict.ts';
import type { Answer, Operations } from '../wire.generated.ts';

/** A call that waits, as an answer names it. `claimToken` for a job that was claimed. */
export interface AnsweredCall {
  readonly runId: string;
  readonly callId: string;
  readonly claimToken?: string | undefined;
}

/** Calls that wait for somebody. */
export interface Pending {
  list(
    query?: Operations['GET /api/pending']['query'],
    options?: RequestOptions,
  ): Promise<Operations['GET /api/pending']['answer']>;
  /** Answers a call. The first answer counts; sending it again is safe, and is done if there is no answer. */
  answer(call: AnsweredCall, answer: Answer, options?: RequestOptions): Promise<Verdict>;
}

export function pending({ call }: Connection): Pending {
  return {
    list: (query, options) => call('GET /api/pending', { query, ...options }),
    async answer({ runId, callId, claimToken }, answer, options) {
      const claim = claimToken === undefined ? {} : { claimToken };
      const body = { callId, ...answer, ...claim } as Operations['POST /api/runs/{runId}/tool-results']['body'];
      const sent = { params: { runId }, body, isRepeatable: true, ...options };
      return await call('POST /api/runs/{runId}/tool-results', sent).then(
        ({ duplicate }): Verdict => ({ status: duplicate ? 'same' : 'won' }),
        toVerdict,
      );
    },
  };
}
