import { providedOutcome } from '../dispatch/provider-call.ts';
import type { Outcome } from '../results/outcome.ts';
import type { ReplyEntry, RequestedCall } from '../transcript/entry.ts';
import { hasNewAnswer } from './answers.ts';
import { cancelled } from './batch-rules.ts';
import { stepTools } from './offer-tools.ts';
import { settleUnrun } from './record.ts';
import { settleBatch, unknownOutcome } from './settle-batch.ts';
import { openReply, type Turn } from './turn.ts';

/**
 * Settles the previous turn when a new one replaces it: answers become the results of its calls, and a call that has
 * neither ended nor waits ends here, because it will never run.
 */
export async function settleBefore(turn: Turn): Promise<void> {
  const open = openReply(turn);
  if (open === undefined) return;
  await settleAbandoned(turn, open);
  if (hasNewAnswer(turn)) await settleBatch(turn, await stepTools(turn, false), { entry: open });
}

async function settleAbandoned(turn: Turn, { calls }: ReplyEntry): Promise<void> {
  const { settled, waiting } = turn.progress;
  const ended = new Set(settled.map(({ callId }) => callId));
  for (const call of calls)
    if (!ended.has(call.callId) && !waiting.has(call.callId)) await settleUnrun(turn, call, outcomeOf(turn, call));
}

function outcomeOf({ progress }: Turn, { callId, toolName, provided }: RequestedCall): Outcome {
  if (provided !== undefined) return providedOutcome(provided);
  // It does not claim that the call never started: without a journal that is not known.
  return progress.started.has(callId) ? unknownOutcome(toolName) : cancelled('a new turn began before it had ended');
}
