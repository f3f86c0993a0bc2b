import type { UsedSpace } from '@lastcall/client/react';
import { type RefObject, useEffect, useRef } from 'react';
import type { VirtualizerHandle } from 'virtua';

interface ShownAt {
  readonly used: UsedSpace;
  readonly at: number | undefined;
  readonly list: RefObject<VirtualizerHandle | null>;
}

/** Shows the message that the address names, once. It loads earlier messages until it finds it. */
export function useShowAt({ used: { items, hasEarlier, loadEarlier }, at, list }: ShownAt): void {
  const shown = useRef<number>(undefined);
  useEffect(() => {
    if (at === undefined || shown.current === at) return;
    const first = items.find(({ message }) => message !== undefined)?.message?.seq ?? 0;
    if (hasEarlier && first > at) {
      void loadEarlier();
      return;
    }
    const index = items.findIndex(({ message }) => (message?.seq ?? 0) >= at);
    if (index === -1) return;
    shown.current = at;
    requestAnimationFrame(() => list.current?.scrollToIndex(index, { align: 'center' }));
  }, [at, items, hasEarlier, loadEarlier, list]);
}
