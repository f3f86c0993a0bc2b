import { type RefObject, useEffect, useState } from 'react';

/** Whoever reaches for one button must not hit another that has just come to its place. */
const DEAD_MS = 500;
const LOOK_MS = 100;

/** `new`: it has just appeared. `moving`: it has just moved. */
export type Steadiness = 'new' | 'moving' | 'steady';

/** Whether the element has been where it is for half a second. */
export function useSteadiness(element: RefObject<HTMLElement | null>, isWatched: boolean): Steadiness {
  const [steadiness, setSteadiness] = useState<Steadiness>('new');
  useEffect(() => {
    if (!isWatched) return;
    const start = performance.now();
    let [top, left, movedAt] = [0, 0, start];
    const look = (): void => {
      const place = element.current?.getBoundingClientRect();
      if (place === undefined) return;
      const now = performance.now();
      if (Math.abs(place.top - top) > 1 || Math.abs(place.left - left) > 1) movedAt = now;
      [top, left] = [place.top, place.left];
      setSteadiness(now - start < DEAD_MS ? 'new' : now - movedAt < DEAD_MS ? 'moving' : 'steady');
    };
    look();
    const timer = setInterval(look, LOOK_MS);
    return () => {
      clearInterval(timer);
      setSteadiness('new');
    };
  }, [element, isWatched]);
  return steadiness;
}
