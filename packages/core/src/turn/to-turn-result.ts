import type { PendingCall, TurnResult } from '../contract/turn-result.ts';
import type { Settlement } from '../results/outcome.ts';
import type { Entry, RequestedCall } from '../transcript/entry.ts';
import type { Stop } from '../transcript/stop.ts';
import { responseOf } from './response-of.ts';
import type { Turn } from './turn.ts';

export function toTurnResult(turn: Turn, stop: Stop): TurnResult {
  const { progress, transcript } = turn;
  return {
    ...responseOf(transcript.entries, stop),
    stop,
    transcript,
    settlements: inCallOrder(turn),
    pending: [...progress.waiting.values()].map(({ settlement }) => toPending(settlement)),
    steps: progress.steps,
    usage: progress.usage,
  };
}

/** Calls that ran in parallel ended in any order. */
function inCallOrder({ transcript, progress }: Turn): readonly Settlement[] {
  const { settled } = progress;
  const asked = askedCalls(transcript.entries);
  if (settled.every(({ callId }, at) => callId === asked[at]?.callId)) return settled.slice();
  const places = new Map(asked.map(({ callId }, place) => [callId, place]));
  // Calls that an earlier turn asked for and this one settled come first.
  const placeOf = ({ callId }: Settlement): number => places.get(callId) ?? -1;
  return settled.toSorted((one, other) => placeOf(one) - placeOf(other));
}

/** The calls that the turn asked for, in order. */
function askedCalls(entries: readonly Entry[]): readonly RequestedCall[] {
  const asked: RequestedCall[] = [];
  for (let at = entries.findLastIndex(({ kind }) => kind === 'turn') + 1; at < entries.length; at++) {
    const entry = entries[at];
    if (entry?.kind === 'reply') for (const call of entry.calls) asked.push(call);
  }
  return asked;
}

export function toPending({ callId, toolName, input, outcome }: Settlement): PendingCall {
  const { kind, expiresAt } = outcome as Extract<Settlement['outcome'], { status: 'pending' }>;
  return { callId, kind, toolName, input, ...(expiresAt === undefined ? {} : { expiresAt }) };
}
