import type { Member } from '@lastcall/client';

/** A member who has left has no name here any more. */
export function nameOf(members: readonly Member[], entityId: string): string {
  return members.find((member) => member.entityId === entityId)?.displayName ?? 'A former member';
}
