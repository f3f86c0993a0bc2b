import type { PendingCall, TurnResult } from '../contract/turn-result.ts';
import type { Settlement } from '../results/outcome.ts';
import { endingCall } from '../transcript/ending-call.ts';
import type { Entry, RequestedCall } from '../transcript/entry.ts';
import type { Stop } from '../transcript/stop.ts';
import { isTextReply } from '../transcript/text-reply.ts';
import type { Turn } from './turn.ts';

export function toTurnResult(turn: Turn, stop: Stop): TurnResult {
  const { progress, transcript } = turn;
  const given = responseOf(turn, stop);
  return {
    ...given,
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

function responseOf({ transcript }: Turn, stop: Stop): Pick<TurnResult, 'response' | 'output'> {
  const { entries } = transcript;
  const ended = endingCall(entries, stop);
  if (ended?.endsTurn !== undefined) return ended.endsTurn;
  const outcome = ended?.settlement.outcome;
  if (outcome?.status === 'ok') return { response: outcome.userText ?? outcome.text, output: outcome.value };
  const at = entries.findLastIndex(({ kind }) => kind === 'reply' || kind === 'turn');
  const [asked, last] = [entries[at - 1], entries[at]];
  const isLastWord = asked?.kind === 'nudge' && asked.why === 'last-word';
  const spoke = last?.kind === 'reply' && (isTextReply(last) || isLastWord);
  return { response: spoke ? last.text : '', output: undefined };
}

export function toPending({ callId, toolName, input, outcome }: Settlement): PendingCall {
  const { kind, expiresAt } = outcome as Extract<Settlement['outcome'], { status: 'pending' }>;
  return { callId, kind, toolName, input, ...(expiresAt === undefined ? {} : { expiresAt }) };
}
