import type { Entry, Settlement } from '@lastcall/core';

/**
 * The calls that have not ended, with their current state: those that wait, and those of a batch that was interrupted.
 */
export function openCalls(entries: readonly Entry[]): ReadonlyMap<string, Settlement> {
  const open = new Map<string, Settlement>();
  let now = 0;
  for (const entry of entries) {
    if (entry.kind === 'reply') for (const call of entry.calls) open.set(call.callId, unrun(call, now));
    else if (entry.kind === 'pending') open.set(entry.settlement.callId, entry.settlement);
    else if (entry.kind === 'settled') {
      open.delete(entry.settlement.callId);
      now = entry.settlement.endedAt;
    }
  }
  return open;
}

type RequestedCall = Extract<Entry, { kind: 'reply' }>['calls'][number];

/** The call never began, so its time is that of the last entry before it. */
function unrun({ callId, toolName, input }: RequestedCall, now: number): Settlement {
  const outcome = { status: 'skipped' as const, reason: 'it never began', text: 'Skipped: it never began.' };
  return { callId, toolName, input, outcome, startedAt: now, endedAt: now };
}

/** The waiting call, if it still waits. */
export function pendingIn(entries: readonly Entry[], callId: string): Settlement | undefined {
  const last = entries.findLast(
    (entry) => (entry.kind === 'pending' || entry.kind === 'settled') && entry.settlement.callId === callId,
  );
  return last?.kind === 'pending' ? last.settlement : undefined;
}
