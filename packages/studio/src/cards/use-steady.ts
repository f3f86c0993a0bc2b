import { type RefObject, useEffect, useState } from 'react';

/** Whoever reaches for one button must not hit another that has just come to its place. */
const DEAD_MS = 500;
const LOOK_MS = 100;

/** False for half a second after the element has appeared or moved. */
export function useSteady(element: RefObject<HTMLElement | null>, isWatched: boolean): boolean {
  const [isSteady, setSteady] = useState(false);
  useEffect(() => {
    if (!isWatched) return;
    let [top, left, since] = [Number.NaN, Number.NaN, performance.now()];
    const look = (): void => {
      const place = element.current?.getBoundingClientRect();
      if (place === undefined) return;
      if (Math.abs(place.top - top) > 1 || Math.abs(place.left - left) > 1 || Number.isNaN(top))
        since = performance.now();
      [top, left] = [place.top, place.left];
      setSteady(performance.now() - since >= DEAD_MS);
    };
    look();
    const timer = setInterval(look, LOOK_MS);
    return () => {
      clearInterval(timer);
      setSteady(false);
    };
  }, [element, isWatched]);
  return isSteady;
}
