import type { PendingCall } from '@lastcall/client';

/**
 * The list with the open calls that are no longer in it, each at its old place: before the first call that came after
 * it.
 */
export function withOpened(calls: readonly PendingCall[], opened: readonly PendingCall[]): readonly PendingCall[] {
  return opened
    .filter(({ callId }) => !calls.some((call) => call.callId === callId))
    .reduce<readonly PendingCall[]>((list, call) => {
      const at = list.findIndex((other) => isAfter(other, call));
      return list.toSpliced(at === -1 ? list.length : at, 0, call);
    }, calls);
}

/** The order of the list: see data/pending.ts. Calls of one reply were made at the same time. */
function isAfter(one: PendingCall, other: PendingCall): boolean {
  const difference = endOf(one) - endOf(other) || one.createdAt - other.createdAt;
  return difference === 0 ? one.callId > other.callId : difference > 0;
}

function endOf({ expiresAt = Number.MAX_SAFE_INTEGER }: PendingCall): number {
  return expiresAt;
}
