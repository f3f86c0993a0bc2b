import type { SpaceItem } from '@lastcall/client/react';
import {
  type FocusEvent,
  type KeyboardEvent,
  type PointerEvent,
  type RefObject,
  useCallback,
  useLayoutEffect,
  useRef,
  useState,
  type WheelEvent,
} from 'react';
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
    onWheel(event: WheelEvent<HTMLElement>): void;
    onTouchMove(): void;
    onKeyDown(event: KeyboardEvent<HTMLElement>): void;
    onPointerDown(event: PointerEvent<HTMLElement>): void;
    onFocus(event: FocusEvent<HTMLElement>): void;
  };
}

const NEAR_PX = 48;
/** How long after a person's input scrolling counts as theirs. A wheel goes on for a while. */
const THEIRS_MS = 1_000;

const UP: ReadonlySet<string> = new Set(['ArrowUp', 'PageUp', 'Home']);
const DOWN: ReadonlySet<string> = new Set(['ArrowDown', 'PageDown', 'End', ' ']);

function isField(target: EventTarget): boolean {
  return target instanceof Element && target.matches('input, textarea, select');
}

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
  /** At once: what is measured meanwhile would pull the list back before it has moved. */
  const letGo = useCallback(() => {
    onInput();
    const { scrollSize = 0, viewportSize = 0 } = list.current ?? {};
    if (scrollSize > viewportSize) set(false);
  }, [list, onInput, set]);
  const onFocus = useCallback(
    ({ target }: FocusEvent<HTMLElement>) => {
      // Whoever fills in a form must not lose sight of it because somebody writes.
      if (isField(target)) set(false);
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
        if (isTheirs && offset < now.current.offset) set(false);
        else if (isTheirs && isNear && offset > now.current.offset) set(true);
        now.current.offset = offset;
      },
      [list, set],
    ),
    inputs: {
      onWheel: ({ deltaY }) => (deltaY < 0 ? letGo() : onInput()),
      onTouchMove: onInput,
      onKeyDown: ({ key, target }) => {
        if (isField(target)) return;
        if (UP.has(key)) letGo();
        else if (DOWN.has(key)) onInput();
      },
      // Only of the scroll bar: a click on a card is no wish to go anywhere.
      onPointerDown: ({ target, currentTarget }) => {
        if (target === currentTarget) onInput();
      },
      onFocus,
    },
  };
}
