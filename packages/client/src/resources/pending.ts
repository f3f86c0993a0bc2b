import type { Connection, RequestOptions } from '../connection.ts';
import { toVerdict, type Verdict } from '../verdict.ts';
import type { Answer, Operations } from '../wire.generated.ts';

/** A call that waits, as an answer names it. `claimToken` for a job that was claimed. */
export interface AnsweredCall {
  readonly runId: string;
  readonly callId: string;
  readonly claimToken?: string | undefined;
  /** Which question of the call is answered: the call may have asked another one meanwhile. */
  readonly round?: number | undefined;
}

/** Calls that wait for an answer. */
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
    async answer({ runId, callId, claimToken, round }, answer, options) {
      const claim = claimToken === undefined ? {} : { claimToken };
      // Decisions are of the call, and not of a question.
      const question = round === undefined || 'approve' in answer || 'deny' in answer ? {} : { round };
      const body = {
        callId,
        ...answer,
        ...claim,
        ...question,
      } as Operations['POST /api/runs/{runId}/tool-results']['body'];
      const sent = { params: { runId }, body, isRepeatable: true, ...options };
      return await call('POST /api/runs/{runId}/tool-results', sent).then(
        ({ duplicate, runId, grantId }): Verdict => ({
          status: duplicate ? 'same' : 'won',
          runId,
          ...(grantId === undefined ? {} : { grantId }),
        }),
        toVerdict,
      );
    },
  };
}
