import type { Member } from '@lastcall/client';

/** Whoever has left has no name here any more. */
export function nameOf(members: readonly Member[], entityId: string): string {
  return members.find((member) => member.entityId === entityId)?.displayName ?? 'Somebody who left';
}
