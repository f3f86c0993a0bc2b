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
 * `following`: the list stays at its end. `held`: a field or an opened document in it has the focus, and stays in sight. `away`: the
 * person has scrolled away from the end.
 */
type Mode = 'following' | 'held' | 'away';

interface UsedStick {
  readonly mode: Mode;
  /** To be put on what scrolls. */
  readonly scroller: RefObject<HTMLDivElement | null>;
  /** The item that was last when the list stopped following. */
  readonly lastSeenId: string | undefined;
  onScroll(offset: number): void;
  goToEnd(): void;
  /** For what scrolls: only what a person does stops the list from following. */
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
/** How long after a person's input scrolling counts as theirs. A wheel goes on for a while. */
const THEIRS_MS = 1_000;

/** Where a person's input leads. What else moves the list at that moment, such as rows being measured, is not theirs. */
type Way = 'up' | 'down' | 'any';

const UP: ReadonlySet<string> = new Set(['ArrowUp', 'PageUp', 'Home']);
const DOWN: ReadonlySet<string> = new Set(['ArrowDown', 'PageDown', 'End', ' ']);

/** A form or a document that a person uses must stay in sight when a message comes. */
function holds(target: EventTarget): boolean {
  return target instanceof Element && target.matches('input, textarea, select, [data-document]');
}

function isNearEnd({ scrollHeight, clientHeight, scrollTop }: HTMLElement): boolean {
  return scrollHeight - clientHeight - scrollTop < NEAR_PX;
}

/** The list stays at its end unless the person scrolls away from it, or uses something in it. */
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
  // Not by the list's own way to an index: that goes on for as long as rows are measured, whatever a person does meanwhile.
  const goToEnd = useCallback(() => {
    const element = scroller.current;
    if (element !== null) element.scrollTop = element.scrollHeight;
  }, []);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    // Told before the browser paints, so nobody sees the list away from its end.
    const observer = new ResizeObserver(() => {
      // A field that goes away with its answer has the focus no longer, and no event says so.
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
  /** At once: what is measured meanwhile would pull the list back before it has moved. */
  const leaveEnd = useCallback(() => {
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
      // The button of a card must not move away under the pointer that has just left the card's field. A window that loses the
      // focus leaves it where it is.
      const card = target.closest('[data-card]');
      const stays = document.activeElement === target || (relatedTarget !== null && card?.contains(relatedTarget));
      // It only goes on from its end: nothing moves because the focus does.
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
      onWheel: ({ deltaY }) => (deltaY < 0 ? leaveEnd() : onInput('down')),
      onTouchMove: () => onInput('any'),
      onKeyDown: ({ key, target }) => {
        if (holds(target)) return;
        if (UP.has(key)) leaveEnd();
        else if (DOWN.has(key)) onInput('down');
      },
      // Only of the scroll bar: a click on a card is no wish to go anywhere.
      onPointerDown: ({ target, currentTarget }) => {
        if (target === currentTarget) onInput('any');
      },
      onFocus,
      onBlur,
    },
  };
}
