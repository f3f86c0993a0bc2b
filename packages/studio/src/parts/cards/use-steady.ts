import { type RefObject, useEffect, useState } from 'react';

/** A user who reaches for one button must not hit another that has just moved to its place. */
const DEAD_MS = 500;
const LOOK_MS = 100;
/** How long after a turn of the wheel scrolling still counts as the user's. */
const THEIRS_MS = 300;

/** `new`: it has just appeared. `moving`: it has just moved. */
export type Steadiness = 'new' | 'moving' | 'steady';

/** Whether the element has been at its place for half a second. */
export function useSteadiness(element: RefObject<HTMLElement | null>, isWatched: boolean): Steadiness {
  const [steadiness, setSteadiness] = useState<Steadiness>('new');
  useEffect(() => {
    if (!isWatched) return;
    const start = performance.now();
    let [top, left, movedAt, scrolledAt] = [0, 0, start, Number.NEGATIVE_INFINITY];
    const onInput = (): void => {
      scrolledAt = performance.now();
    };
    const look = (): void => {
      const place = element.current?.getBoundingClientRect();
      if (place === undefined) return;
      const now = performance.now();
      const hasMoved = Math.abs(place.top - top) > 1 || Math.abs(place.left - left) > 1;
      // A user who scrolls expects it to move.
      if (hasMoved && now - scrolledAt > THEIRS_MS) movedAt = now;
      [top, left] = [place.top, place.left];
      setSteadiness(now - start < DEAD_MS ? 'new' : now - movedAt < DEAD_MS ? 'moving' : 'steady');
    };
    look();
    const timer = setInterval(look, LOOK_MS);
    const options = { capture: true, passive: true } as const;
    for (const type of ['wheel', 'touchmove'] as const) document.addEventListener(type, onInput, options);
    document.addEventListener('scroll', look, options);
    return () => {
      clearInterval(timer);
      for (const type of ['wheel', 'touchmove'] as const) document.removeEventListener(type, onInput, options);
      document.removeEventListener('scroll', look, options);
      setSteadiness('new');
    };
  }, [element, isWatched]);
  return steadiness;
}
