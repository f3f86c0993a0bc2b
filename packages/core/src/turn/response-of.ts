import type { TurnResult } from '../contract/turn-result.ts';
import { endingCall } from '../transcript/ending-call.ts';
import type { Entry } from '../transcript/entry.ts';
import type { Stop } from '../transcript/stop.ts';
import { isTextReply } from '../transcript/text-reply.ts';

/** The answer of the last turn of the entries, which ended with this stop. */
export function responseOf(entries: readonly Entry[], stop: Stop): Pick<TurnResult, 'response' | 'output'> {
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
