import type { PendingCall } from '@lastcall/client';

/**
 * The list with the open calls that are no longer in it, each at its old place: before the first call that came after
 * it.
 */
export function withOpened(calls: readonly PendingCall[], opened: readonly PendingCall[]): readonly PendingCall[] {
  return opened
    .filter(({ callId }) => !calls.some((call) => call.callId === callId))
    .reduce<readonly PendingCall[]>((list, call) => {
      const at = list.findIndex((other) => endOf(other) > endOf(call));
      return list.toSpliced(at === -1 ? list.length : at, 0, call);
    }, calls);
}

function endOf({ expiresAt = Number.MAX_SAFE_INTEGER }: PendingCall): number {
  return expiresAt;
}
