import type { Member } from '@lastcall/client';
import { type SpaceItem, withVisibleControls } from '@lastcall/client/react';
import { type ReactElement, useEffect, useRef, useState } from 'react';
import { nameOf } from './name-of.ts';

/**
 * Reads out complete messages as they come, and calls that wait. It skips text that is still being written, and
 * messages that are only scrolled into view.
 */
export function Announcer({
  items,
  members,
}: {
  items: readonly SpaceItem[];
  members: readonly Member[];
}): ReactElement {
  const known = useRef<number>(undefined);
  const [said, setSaid] = useState('');
  useEffect(() => {
    const newest = items.findLast(({ message }) => message !== undefined);
    const seq = newest?.message?.seq ?? 0;
    const before = known.current;
    known.current = Math.max(seq, before ?? 0);
    if (before === undefined || newest === undefined || seq <= before) return;
    setSaid(inWords(newest, nameOf(members, newest.entityId)));
  }, [items, members]);
  return (
    <p className="sr-only" aria-live="polite" aria-atomic="true">
      {said}
    </p>
  );
}

function inWords(item: SpaceItem, name: string): string {
  if (item.kind === 'text') return `${name}: ${withVisibleControls(item.text.slice(0, 500))}`;
  return item.message?.status === 'requires_action' ? `${name} waits for an answer: ${item.toolName}` : '';
}
