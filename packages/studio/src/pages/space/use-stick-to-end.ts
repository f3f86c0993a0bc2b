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

/**
 * `following`: the list stays at its end. `held`: a field or an opened document in it has the focus, and stays in view.
 * `away`: the user has scrolled away from the end.
 */
type Mode = 'following' | 'held' | 'away';

interface UsedStick {
  readonly mode: Mode;
  /** The ref of the scrolling element. */
  readonly scroller: RefObject<HTMLDivElement | null>;
  /** The item that was last when the list stopped following. */
  readonly lastSeenId: string | undefined;
  onScroll(offset: number): void;
  goToEnd(): void;
  /** Stops following, because the address names another place. */
  leaveEnd(): void;
  /** Handlers for the scrolling element: only the user's input stops the list from following. */
  readonly inputs: {
    onWheel(event: WheelEvent<HTMLElement>): void;
    onTouchMove(): void;
    onKeyDown(event: KeyboardEvent<HTMLElement>): void;
    onPointerDown(event: PointerEvent<HTMLElement>): void;
    onFocus(event: FocusEvent<HTMLElement>): void;
    onBlur(event: FocusEvent<HTMLElement>): void;
  };
}

const NEAR_PX = 48;
/** How long after an input scrolling still counts as the user's. A wheel keeps turning for a while. */
const THEIRS_MS = 1_000;

/**
 * The direction of the user's input. Other movements at that moment, such as rows being measured, are not the user's.
 */
type Way = 'up' | 'down' | 'any';

const UP: ReadonlySet<string> = new Set(['ArrowUp', 'PageUp', 'Home']);
const DOWN: ReadonlySet<string> = new Set(['ArrowDown', 'PageDown', 'End', ' ']);

/** A form or a document in use must stay in view when a message arrives. */
function holds(target: EventTarget): boolean {
  return target instanceof Element && target.matches('input, textarea, select, [data-document]');
}

function isNearEnd({ scrollHeight, clientHeight, scrollTop }: HTMLElement): boolean {
  return scrollHeight - clientHeight - scrollTop < NEAR_PX;
}

/** The list stays at its end unless the user scrolls away from it, or uses something in it. */
export function useStickToEnd({ list, items, isElsewhere }: Sticking): UsedStick {
  const [mode, setMode] = useState<Mode>(isElsewhere ? 'away' : 'following');
  const [lastSeenId, setLastSeenId] = useState(items.at(-1)?.id);
  const now = useRef({
    mode,
    lastId: items.at(-1)?.id,
    offset: 0,
    wasNear: true,
    input: { at: Number.NEGATIVE_INFINITY, way: 'any' as Way },
  });
  now.current.lastId = items.at(-1)?.id;
  const set = useCallback((next: Mode) => {
    const before = now.current.mode;
    if (before === next) return;
    now.current.mode = next;
    setMode(next);
    if (before === 'following') setLastSeenId(now.current.lastId);
  }, []);
  const scroller = useRef<HTMLDivElement>(null);
  // It does not use the list's scroll-to-index: that continues as long as rows are measured, whatever the user does
  // meanwhile.
  const goToEnd = useCallback(() => {
    const element = scroller.current;
    if (element !== null) element.scrollTop = element.scrollHeight;
  }, []);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    // The observer runs before the browser paints, so the list is never seen away from its end.
    const observer = new ResizeObserver(() => {
      // A field that is removed with its answer loses the focus without an event.
      if (now.current.mode === 'held' && !element.contains(document.activeElement))
        set(now.current.wasNear ? 'following' : 'away');
      if (now.current.mode === 'following') goToEnd();
      now.current.wasNear = isNearEnd(element);
    });
    for (const one of [element, ...element.children]) observer.observe(one);
    return () => observer.disconnect();
  }, [goToEnd, set]);
  const onInput = useCallback((way: Way) => {
    now.current.input = { at: performance.now(), way };
  }, []);
  /** This happens at once: rows measured meanwhile would pull the list back before it has moved. */
  const scrollUp = useCallback(() => {
    onInput('up');
    const { scrollSize = 0, viewportSize = 0 } = list.current ?? {};
    if (scrollSize > viewportSize) set('away');
  }, [list, onInput, set]);
  const onFocus = useCallback(
    ({ target }: FocusEvent<HTMLElement>) => {
      if (holds(target) && now.current.mode === 'following') set('held');
    },
    [set],
  );
  const onBlur = useCallback(
    ({ target, relatedTarget, currentTarget }: FocusEvent<HTMLElement>) => {
      // The button of a card must not move away under the pointer that has just left the card's field. A window that
      // loses the focus keeps the mode.
      const card = target.closest('[data-card]');
      const stays = document.activeElement === target || (relatedTarget !== null && card?.contains(relatedTarget));
      // The list follows again only if it is near its end: a change of focus moves nothing.
      if (now.current.mode === 'held' && !stays) set(isNearEnd(currentTarget) ? 'following' : 'away');
    },
    [set],
  );
  return {
    mode,
    scroller,
    lastSeenId,
    goToEnd: useCallback(() => {
      set('following');
      goToEnd();
    }, [set, goToEnd]),
    leaveEnd: useCallback(() => set('away'), [set]),
    onScroll: useCallback(
      (offset) => {
        const { scrollSize = 0, viewportSize = 0 } = list.current ?? {};
        const isNear = scrollSize - offset - viewportSize < NEAR_PX;
        const { input, offset: before } = now.current;
        const isTheirs = performance.now() - input.at < THEIRS_MS;
        if (isTheirs && input.way !== 'down' && offset < before) set('away');
        else if (isTheirs && input.way !== 'up' && isNear && offset > before) set('following');
        now.current.offset = offset;
        now.current.wasNear = isNear;
      },
      [list, set],
    ),
    inputs: {
      onWheel: ({ deltaY }) => (deltaY < 0 ? scrollUp() : onInput('down')),
      onTouchMove: () => onInput('any'),
      onKeyDown: ({ key, target }) => {
        if (holds(target)) return;
        if (UP.has(key)) scrollUp();
        else if (DOWN.has(key)) onInput('down');
      },
      // Only for the scroll bar: a click on a card does not mean to scroll.
      onPointerDown: ({ target, currentTarget }) => {
        if (target === currentTarget) onInput('any');
      },
      onFocus,
      onBlur,
    },
  };
}
