import type { Call, Message, Outcome } from '../wire.generated.ts';

/** How a call stands, in one word: the same in the API, on every page and on the command line. */
export type CallStatus = NonNullable<Call['status']>;

/** The status of a call with this outcome. A refusal is a decision and not an error. An error that may have had an effect is `unknown`. */
export function callStatus(outcome: Outcome | undefined): CallStatus {
  if (outcome === undefined) return 'running';
  if (outcome.status === 'pending') return 'waiting';
  if (outcome.status !== 'error') return outcome.status;
  if (outcome.effect === 'possible' || outcome.code === 'unknown_outcome') return 'unknown';
  if (outcome.code === 'denied') return 'denied';
  return outcome.code === 'expired' ? 'expired' : 'error';
}

/** The status of the call that a card shows. */
export function statusOfCard({ status, metadata, call }: Pick<Message, 'status' | 'metadata' | 'call'>): CallStatus {
  const { callStatus: told } = metadata as { readonly callStatus?: CallStatus };
  if (told !== undefined) return told;
  return status === 'cancelled' && call?.decision === 'deny' ? 'denied' : OF_CARDS[status];
}

const OF_CARDS: Readonly<Record<Message['status'], CallStatus>> = {
  running: 'running',
  requires_action: 'waiting',
  complete: 'ok',
  error: 'error',
  expired: 'expired',
  cancelled: 'cancelled',
};

/** Calls that ended so never ran. */
export const NEVER_RAN: ReadonlySet<CallStatus> = new Set(['cancelled', 'skipped', 'denied']);
