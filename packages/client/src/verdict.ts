import { ClientError } from './client-error.ts';
import type { Answer } from './wire.generated.ts';

/** What became of an answer. */
export type Verdict =
  /** `runId`: the run that continues with the answer. It is `queued` until it starts. `grantId`: the grant that was given with it. */
  | { readonly status: 'won'; readonly runId: string; readonly grantId?: string }
  /** The same answer had been given before, perhaps by an earlier try of this one. */
  | { readonly status: 'same'; readonly runId: string; readonly grantId?: string }
  /** Another answer came first. */
  | { readonly status: 'lost'; readonly answer: Answer; readonly by: Winner; readonly at: number }
  /** The call no longer waits. The answer was kept for operators. */
  | { readonly status: 'expired' | 'cancelled'; readonly at: number }
  /** Nothing was changed: the answer does not fit. */
  | { readonly status: 'invalid'; readonly problems: readonly Problem[] };

interface Winner {
  readonly id: string;
  readonly name: string;
}

export interface Problem {
  /** Where in the answer, e.g. `result.city`. Empty for the whole. */
  readonly path: string;
  readonly message: string;
}

/** What the gateway tells of a refusal. */
interface Details {
  readonly answer: Answer;
  readonly resolvedBy: string;
  readonly resolvedByName?: string;
  readonly resolvedAt?: number;
  readonly problems?: readonly Problem[];
}

/** The verdict that a refusal of the gateway is; anything else is thrown. */
export function toVerdict(error: unknown): Verdict {
  if (!(error instanceof ClientError)) throw error;
  const details = error.details as Details;
  switch (error.code) {
    case 'already_answered': {
      // Of a question before the one that waits it is not known when it was answered.
      const { answer, resolvedBy, resolvedByName = resolvedBy, resolvedAt = Date.now() } = details;
      return { status: 'lost', answer, by: { id: resolvedBy, name: resolvedByName }, at: resolvedAt };
    }
    case 'expired':
    case 'cancelled':
      return { status: error.code, at: details.resolvedAt ?? Date.now() };
    case 'invalid_answer':
    case 'wrong_answer':
    case 'invalid_request':
      return { status: 'invalid', problems: details?.problems ?? [{ path: '', message: error.message }] };
    default:
      throw error;
  }
}
