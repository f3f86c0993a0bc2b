import type { Entry, SettledEntry } from './entry.ts';
import type { Stop } from './stop.ts';

/**
 * The end of the call that ended the last turn of the entries, if a call did. Calls that ran in parallel were settled in any
 * order: of several that could have ended the turn, it is the last that the model asked for.
 */
export function endingCall(entries: readonly Entry[], stop: Stop): SettledEntry | undefined {
  if (stop.reason !== 'end_turn' || stop.by === 'text') return undefined;
  const turn = entries.slice(entries.findLastIndex(({ kind }) => kind === 'turn') + 1);
  const settled = turn.filter((entry) => entry.kind === 'settled');
  const inside = settled.find(({ endsTurn }) => endsTurn !== undefined);
  if (inside !== undefined) return inside;
  const ended = settled.filter((entry) => endsTurn(entry, stop));
  const calls = turn.findLast((entry) => entry.kind === 'reply')?.calls ?? [];
  const asked = calls.findLast(({ callId }) => ended.some(({ settlement }) => settlement.callId === callId));
  return ended.find(({ settlement }) => settlement.callId === asked?.callId) ?? ended.at(-1);
}

/**
 * A call without which the turn had continued ends it only if it is listed in the contract, and a result that is not final does not end
 * it.
 */
function endsTurn(
  { settlement, late }: SettledEntry,
  { tool, by }: Extract<Stop, { by: 'terminal' | 'terminating' }>,
): boolean {
  if (settlement.toolName !== tool || settlement.outcome.status !== 'ok') return false;
  return by === 'terminating' || (settlement.terminal === true && late !== true);
}
