import type { Entry } from '../transcript/entry.ts';
import { planBatch } from './batch-plan.ts';
import type { Ended } from './ending.ts';
import { stepTools } from './offer-tools.ts';
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

/** What happened in this turn that the model has not read. */
function sinceReply(entries: readonly Entry[]): readonly Entry[] {
  return entries.slice(entries.findLastIndex(({ kind }) => kind === 'reply' || kind === 'turn') + 1);
}
