import type { Member } from '@lastcall/client';
import type { SpaceItem } from '@lastcall/client/react';
import { yearOf } from '../../parts/ui/time.tsx';
import { nameOf } from './name-of.ts';
import type { UsedHeard } from './use-heard.ts';

/** After this long the sender's name is shown again. */
const TOGETHER_MS = 5 * 60_000;

/** True if an item shows its sender's name: it is the first of a group. */
export function startsGroup(item: SpaceItem, before: SpaceItem | undefined): boolean {
  if (before === undefined || before.entityId !== item.entityId) return true;
  if (nodeOf(before) !== nodeOf(item)) return true;
  const apart = timeOf(item) - timeOf(before);
  return apart > TOGETHER_MS || dayOf(item, before) !== undefined;
}

/** The node of a machine that wrote it or made the call. */
export function nodeOf({ message }: SpaceItem): string | undefined {
  const node = message?.metadata.node;
  return typeof node === 'string' ? node : undefined;
}

/** The day of an item, if it differs from that of the item before. */
export function dayOf(item: SpaceItem, before: SpaceItem | undefined): string | undefined {
  if (item.message === undefined) return undefined;
  const day = new Date(item.message.createdAt);
  if (before === undefined ? isToday(day) : new Date(timeOf(before)).toDateString() === day.toDateString())
    return undefined;
  return isToday(day) ? 'Today' : dayName(day);
}

/** An item that is being written has the current time. */
function timeOf({ message }: SpaceItem): number {
  return message?.createdAt ?? Date.now();
}

function isToday(day: Date): boolean {
  return day.toDateString() === new Date().toDateString();
}

function dayName(day: Date): string {
  return day.toLocaleDateString(undefined, { weekday: 'long', month: 'long', day: 'numeric', ...yearOf(day) });
}

/** "Concierge has it", for the last sent message. */
export function heardInWords(
  item: SpaceItem,
  heardBy: UsedHeard['heardBy'],
  members: readonly Member[],
): string | undefined {
  if (heardBy === undefined || heardBy.messageId !== item.id) return undefined;
  const names = (as: string): string =>
    heardBy.heard
      .filter((one) => one.as === as)
      .map(({ entityId }) => nameOf(members, entityId))
      .join(' and ');
  const parts = [
    [names('queued'), 'has it', 'have it'],
    [names('paused'), 'is paused, and gets it later', 'are paused, and get it later'],
    [names('withheld'), 'did not get it: agents have talked long enough without a person', 'did not get it'],
  ] as const;
  const words = parts
    .filter(([who]) => who !== '')
    .map(([who, one, many]) => `${who} ${who.includes(' and ') ? many : one}`);
  return words.length === 0 ? undefined : words.join('; ');
}

/** How many items came after the one that was last when the user scrolled away. */
export function newSince(items: readonly SpaceItem[], lastId: string | undefined): number {
  const at = lastId === undefined ? -1 : items.findLastIndex(({ id }) => id === lastId);
  return at === -1 ? 0 : items.length - 1 - at;
}
