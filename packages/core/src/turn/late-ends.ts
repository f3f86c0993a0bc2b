import type { Entry, RequestedCall, SettledEntry } from '../transcript/entry.ts';
import { planBatch } from './batch-plan.ts';
import type { Ended } from './ending.ts';
import { stepTools } from './offer-tools.ts';
import type { StepTools } from './step-tools.ts';
import type { Turn } from './turn.ts';

/**
 * The calls that succeeded since the last reply, after their turn had continued without them, and that stop the turn. The host would never
 * learn of a transition otherwise, and the model would be reminded to make a listed call again. A listed call does not end the run of a
 * new prompt. A terminal call ends nothing: the conversation has gone on, so the model reads its output and answers.
 */
export async function lateEnds(turn: Turn): Promise<readonly Ended[]> {
  const unread = sinceReply(turn.transcript.entries);
  const succeeded = unread.flatMap((entry) =>
    entry.kind === 'settled' && entry.late === true && entry.settlement.outcome.status === 'ok'
      ? [entry.settlement]
      : [],
  );
  if (succeeded.length === 0) return [];
  const { plan } = await stepTools(turn, false);
  const hasPrompt = unread.some(({ kind }) => kind === 'message');
  return succeeded.flatMap((settlement): readonly Ended[] => {
    const { callId, toolName } = settlement;
    const [planned] = planBatch([{ callId, toolName, input: '' }], plan).flat();
    const stops = planned?.role === 'transition' || (planned?.role === 'listed' && !hasPrompt);
    return stops ? [{ role: planned.role, settlement }] : [];
  });
}

/** The calls of a call's batch that succeeded and ended their turn or handed over, also if they come after it. */
export function endsOfBatch(turn: Turn, { callId }: RequestedCall, { plan }: StepTools): readonly Ended[] {
  const { entries } = turn.transcript;
  const at = entries.findLastIndex(
    (entry) => entry.kind === 'reply' && entry.calls.some((call) => call.callId === callId),
  );
  const reply = entries[at];
  if (reply?.kind !== 'reply') return [];
  const roles = new Map(planBatch(reply.calls, plan).flatMap((group) => group.map((call) => [call.callId, call.role])));
  return entries.slice(at).flatMap((entry): readonly Ended[] => {
    if (entry.kind !== 'settled' || entry.settlement.outcome.status !== 'ok') return [];
    const { settlement, endsTurn } = entry;
    const role = endsTurn === undefined ? (roles.get(settlement.callId) ?? 'plain') : 'terminal';
    const isPlain = role === 'plain' || role === 'rewind' || (role === 'terminal' && !endsIt(entry));
    return isPlain ? [] : [{ role, settlement }];
  });
}

/** Its tool may have become terminal since: then it did not end its turn. */
function endsIt({ settlement, endsTurn }: SettledEntry): boolean {
  return endsTurn !== undefined || settlement.terminal === true;
}

/** What happened in this turn that the model has not read. */
function sinceReply(entries: readonly Entry[]): readonly Entry[] {
  return entries.slice(entries.findLastIndex(({ kind }) => kind === 'reply' || kind === 'turn') + 1);
}
