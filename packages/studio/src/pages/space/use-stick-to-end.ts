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
  /** To be put on what scrolls. */
  readonly scroller: RefObject<HTMLDivElement | null>;
  /** The item that was last when the person scrolled away. */
  readonly lastSeenId: string | undefined;
  onScroll(offset: number): void;
  goToEnd(): void;
  /** For what scrolls: only what a person does lets the end go. */
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

/** Where a person's input leads. What else moves the list at that moment, such as rows being measured, is not theirs. */
type Way = 'up' | 'down' | 'any';

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
    lastId: items.at(-1)?.id,
    offset: 0,
    input: { at: Number.NEGATIVE_INFINITY, way: 'any' as Way },
  });
  now.current.lastId = items.at(-1)?.id;
  const set = useCallback((next: boolean) => {
    if (now.current.isStuck === next) return;
    now.current.isStuck = next;
    setStuck(next);
    setLastSeenId(now.current.lastId);
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
      if (now.current.isStuck) goToEnd();
    });
    for (const one of [element, ...element.children]) observer.observe(one);
    return () => observer.disconnect();
  }, [goToEnd]);
  const onInput = useCallback((way: Way) => {
    now.current.input = { at: performance.now(), way };
  }, []);
  /** At once: what is measured meanwhile would pull the list back before it has moved. */
  const letGo = useCallback(() => {
    onInput('up');
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
    scroller,
    lastSeenId,
    goToEnd: useCallback(() => {
      set(true);
      goToEnd();
    }, [set, goToEnd]),
    onScroll: useCallback(
      (offset) => {
        const { scrollSize = 0, viewportSize = 0 } = list.current ?? {};
        const isNear = scrollSize - offset - viewportSize < NEAR_PX;
        const { input, offset: before } = now.current;
        const isTheirs = performance.now() - input.at < THEIRS_MS;
        if (isTheirs && input.way !== 'down' && offset < before) set(false);
        else if (isTheirs && input.way !== 'up' && isNear && offset > before) set(true);
        now.current.offset = offset;
      },
      [list, set],
    ),
    inputs: {
      onWheel: ({ deltaY }) => (deltaY < 0 ? letGo() : onInput('down')),
      onTouchMove: () => onInput('any'),
      onKeyDown: ({ key, target }) => {
        if (isField(target)) return;
        if (UP.has(key)) letGo();
        else if (DOWN.has(key)) onInput('down');
      },
      // Only of the scroll bar: a click on a card is no wish to go anywhere.
      onPointerDown: ({ target, currentTarget }) => {
        if (target === currentTarget) onInput('any');
      },
      onFocus,
    },
  };
}
