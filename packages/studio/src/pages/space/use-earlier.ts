import type { UsedSpace } from '@lastcall/client/react';
import { type RefObject, useCallback, useEffect, useRef, useState } from 'react';
import type { VirtualizerHandle } from 'virtua';

interface UsedEarlier {
  /** True while the list must keep its distance from the end, because items were added before the first. */
  readonly isShifted: boolean;
  readonly isLoading: boolean;
  readonly problem: string | undefined;
  load(): void;
  onScroll(offset: number): void;
}

const NEAR_TOP_PX = 400;

/** Loads earlier messages when the user scrolls near the first one. */
export function useEarlier(
  { items, hasEarlier, loadEarlier }: UsedSpace,
  list: RefObject<VirtualizerHandle | null>,
): UsedEarlier {
  const [isLoading, setLoading] = useState(false);
  const [problem, setProblem] = useState<string>();
  const firstId = useRef(items[0]?.id);
  const isShifted = firstId.current !== items[0]?.id;
  useEffect(() => {
    firstId.current = items[0]?.id;
  }, [items]);
  const load = useCallback(() => {
    setLoading(true);
    setProblem(undefined);
    loadEarlier()
      .catch((error: Error) => setProblem(error.message))
      .finally(() => setLoading(false));
  }, [loadEarlier]);
  const isDue = hasEarlier && !isLoading && problem === undefined;
  const onScroll = useCallback(
    (offset: number) => {
      // A list that is shorter than its window is at its top although the user has not scrolled there.
      const { scrollSize = 0, viewportSize = 0 } = list.current ?? {};
      if (isDue && offset < NEAR_TOP_PX && scrollSize > 2 * viewportSize) load();
    },
    [isDue, list, load],
  );
  return { isShifted, isLoading, problem, load, onScroll };
}
