import type { SpaceItem } from '@lastcall/client/react';
import { type FocusEvent, type RefObject, useCallback, useLayoutEffect, useRef, useState } from 'react';
import type { VirtualizerHandle } from 'virtua';

interface Sticking {
  readonly list: RefObject<VirtualizerHandle | null>;
  readonly items: readonly SpaceItem[];
  /** True if the address names another place. */
  readonly isElsewhere: boolean;
}

interface UsedStick {
  readonly isStuck: boolean;
  /** The item that was last when the person scrolled away. */
  readonly lastSeenId: string | undefined;
  onScroll(offset: number): void;
  onResize(): void;
  goToEnd(): void;
  /** To be put on what scrolls: only what a person does lets the end go. */
  readonly inputs: {
    onWheel(): void;
    onTouchMove(): void;
    onKeyDown(): void;
    onPointerDown(): void;
    onFocus(event: FocusEvent<HTMLElement>): void;
  };
}

const NEAR_PX = 48;
/** How long after a person's input scrolling counts as theirs. A wheel goes on for a while. */
const THEIRS_MS = 1_000;

/** The list stays at its end unless the person scrolls away from it. */
export function useStickToEnd({ list, items, isElsewhere }: Sticking): UsedStick {
  const [isStuck, setStuck] = useState(!isElsewhere);
  const [lastSeenId, setLastSeenId] = useState(items.at(-1)?.id);
  const now = useRef({
    isStuck,
    count: items.length,
    lastId: items.at(-1)?.id,
    offset: 0,
    inputAt: Number.NEGATIVE_INFINITY,
  });
  now.current.count = items.length;
  now.current.lastId = items.at(-1)?.id;
  const set = useCallback((next: boolean) => {
    if (now.current.isStuck === next) return;
    now.current.isStuck = next;
    setStuck(next);
    setLastSeenId(now.current.lastId);
  }, []);
  const goToEnd = useCallback(() => {
    list.current?.scrollToIndex(now.current.count - 1, { align: 'end' });
  }, [list]);
  const follow = useCallback(() => {
    if (now.current.isStuck) goToEnd();
  }, [goToEnd]);
  useLayoutEffect(follow, [items, follow]);
  const onInput = useCallback(() => {
    now.current.inputAt = performance.now();
  }, []);
  const onFocus = useCallback(
    ({ target }: FocusEvent<HTMLElement>) => {
      // Whoever fills in a form must not lose sight of it because somebody writes.
      if (target.matches('input, textarea, select')) set(false);
    },
    [set],
  );
  return {
    isStuck,
    lastSeenId,
    onResize: follow,
    goToEnd: useCallback(() => {
      set(true);
      goToEnd();
    }, [set, goToEnd]),
    onScroll: useCallback(
      (offset) => {
        const { scrollSize = 0, viewportSize = 0 } = list.current ?? {};
        const isNear = scrollSize - offset - viewportSize < NEAR_PX;
        const isTheirs = performance.now() - now.current.inputAt < THEIRS_MS;
        if (isNear && isTheirs) set(true);
        else if (!isNear && isTheirs && offset < now.current.offset) set(false);
        now.current.offset = offset;
      },
      [list, set],
    ),
    inputs: { onWheel: onInput, onTouchMove: onInput, onKeyDown: onInput, onPointerDown: onInput, onFocus },
  };
}
